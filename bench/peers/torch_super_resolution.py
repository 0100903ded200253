import json,numpy as np,torch,time
import torch.nn.functional as F
# Run in the folder models/x2 of the npm package @upscalerjs/esrgan-slim.
m=json.load(open("model.json")); blob=np.fromfile('group1-shard1of1.bin',dtype='<f4'); W={};o=0
for w in m['weightsManifest'][0]['weights']:
    n=int(np.prod(w['shape'])); W[w['name']]=torch.tensor(blob[o:o+n].reshape(w['shape'])); o+=n
def run(dt,tf32,comp,H,Wd):
    torch.backends.cudnn.allow_tf32=tf32; torch.backends.cuda.matmul.allow_tf32=tf32; torch.backends.cudnn.benchmark=True
    P={k:(v.permute(3,2,0,1).contiguous(memory_format=torch.channels_last) if v.ndim==4 else v).cuda().to(dt) for k,v in W.items()}
    def conv(x,n):
        k=P[n+'/kernel']; return F.conv2d(x,k,P[n+'/bias'],padding=k.shape[-1]//2)
    def sr(x):
        m1=conv(x,'F_m1'); f0=conv(m1,'F_0')
        l1=conv(torch.cat([f0,F.relu(conv(f0,'F_1_1'))],1),'LFF_1')+f0
        l2=conv(torch.cat([l1,F.relu(conv(l1,'F_2_1'))],1),'LFF_2')+l1
        g=conv(conv(torch.cat([l1,l2],1),'GFF_1'),'GFF_2')+m1
        u=conv(F.relu(conv(F.relu(conv(g,'UPN1')),'UPN2')),'UPN3')
        return conv(F.interpolate(u,scale_factor=2,mode='nearest'),'SR')
    x=torch.rand(1,3,H,Wd,device='cuda',dtype=dt).contiguous(memory_format=torch.channels_last)
    f=torch.compile(sr) if comp else sr
    with torch.no_grad():
        for _ in range(5): f(x)
        torch.cuda.synchronize(); t=time.time()
        for _ in range(20): f(x)
        torch.cuda.synchronize(); return (time.time()-t)/20*1e3
fl=2*sum(v.numel()*(4 if k.startswith('SR') else 1) for k,v in W.items() if v.ndim==4)
import sys
if '--eager' in sys.argv:
    print('%.3f'%run(torch.float32,False,False,int(sys.argv[-2]),int(sys.argv[-1]))); sys.exit()
for H,Wd in ((256,256),(720,1280)):
    for dt,tf,c in ((torch.float32,False,False),(torch.float32,True,False),(torch.float16,True,False),(torch.float32,False,True),(torch.float16,True,True)):
        try: t=run(dt,tf,c,H,Wd); print(H,Wd,dt,'tf32' if tf else '', 'compile' if c else 'eager','%.3f ms %.1f TFLOP/s'%(t,fl*H*Wd/t/1e9),flush=True)
        except Exception as e: print(H,Wd,dt,c,'failed',str(e)[:100])
