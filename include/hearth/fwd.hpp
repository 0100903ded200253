#pragma once
// Forward declarations of all public types.
namespace hearth {
namespace runtime {
class Server;
struct Allocation;
}  // namespace runtime
namespace graph {
struct Node;
struct Tape;
class Context;
}  // namespace graph

enum class DType : unsigned char;
enum class SyncType : unsigned char;
enum class ChannelKind : unsigned char;
enum class ErrorCode : unsigned char;
class Client;
class Device;
class Error;
class Expr;
class Gradients;
class Kernel;
class Shape;
class Tensor;
struct RuntimeOptions;
struct Statistics;
template <typename T>
class Expected;
template <typename T>
class Future;
}  // namespace hearth
