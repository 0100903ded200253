// Linked into programs with the address sanitizer: Vulkan drivers stay loaded, so that what their globals hold is seen as
// reachable and a leak can be named by its library.
extern "C" int dlclose(void* /*library*/) { return 0; }
