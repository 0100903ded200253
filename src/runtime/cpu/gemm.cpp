#include "runtime/cpu/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "runtime/cpu/tile.hpp"

namespace hearth::runtime::cpu {

namespace {

/// Steps along k that are taken together: a panel of 512 x 32 floats is 64 KiB, it stays in a level-2 cache beside the rows.
constexpr std::int64_t k_block = 512;
/// Tiles of rows that pass over a panel while it is in the cache.
constexpr std::int64_t tiles_per_task = 8;
constexpr int most_rows = 16;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Uninitialised scratch that a thread keeps.
float* scratch(std::size_t floats) {
  thread_local std::vector<float> memory;
  if (memory.size() < floats) memory.resize(floats);
  return memory.data();
}

/// One matrix product cut into blocks of k, panels of columns and groups of rows.
class Product {
 public:
  Product(const Gemm& gemm, ThreadPool& pool) : g_(gemm), pool_(pool), kernels_(kernels()) {
    panels_ = divide_up(g_.n, kernels_.width);
    // Packing b costs a pass over it: not for a few rows when its rows can be read as they are.
    direct_ = g_.b_column == 1 && g_.m <= 2 * kernels_.rows;
  }

  void run() {
    if (direct_) {
      pack_last_panel();
    } else {
      pack();
    }
    const std::int64_t tiles = divide_up(g_.m, kernels_.rows);
    const std::int64_t row_tasks = divide_up(tiles, tiles_per_task);
    // Enough tasks for every thread: columns are cut where rows do not give them.
    const std::int64_t wanted = 4 * pool_.size();
    const std::int64_t column_tasks = std::clamp<std::int64_t>(divide_up(wanted, row_tasks), 1, panels_);
    const std::int64_t panels_per_task = divide_up(panels_, column_tasks);
    const double work = 2.0 * static_cast<double>(g_.m) * static_cast<double>(g_.n) * static_cast<double>(g_.k);
    const std::int64_t tasks = row_tasks * column_tasks;
    // Below about 20 us of work a second thread does not pay.
    const std::int64_t grain = work < 2e6 ? tasks : 1;
    pool_.parallel_for(tasks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t first_panel = task / row_tasks * panels_per_task;
        rows(task % row_tasks * tiles_per_task, std::min((task % row_tasks + 1) * tiles_per_task, tiles), first_panel,
             std::min(first_panel + panels_per_task, panels_));
      }
    });
  }

 private:
  void pack() {
    packed_.resize(static_cast<std::size_t>(panels_ * kernels_.width * g_.k));
    const std::int64_t blocks = divide_up(g_.k, k_block);
    const std::int64_t grain = std::max<std::int64_t>(1, 16384 / (kernels_.width * std::clamp<std::int64_t>(g_.k, 1, k_block)));
    pool_.parallel_for(panels_ * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t from = i / panels_ * k_block;
        pack_panel(i % panels_, from, std::min(from + k_block, g_.k));
      }
    });
  }
  void pack_last_panel() {
    if (g_.n % kernels_.width == 0) return;
    last_panel_.resize(static_cast<std::size_t>(kernels_.width * g_.k));
    fill(last_panel_.data(), panels_ - 1, 0, g_.k);
  }
  float* packed(std::int64_t panel, std::int64_t from, std::int64_t to) {
    return packed_.data() + (from * panels_ + panel * (to - from)) * kernels_.width;
  }
  void pack_panel(std::int64_t panel, std::int64_t from, std::int64_t to) { fill(packed(panel, from, to), panel, from, to); }
  void fill(float* to_row, std::int64_t panel, std::int64_t from, std::int64_t to) const {
    const std::int64_t first = panel * kernels_.width;
    const std::int64_t columns = std::min<std::int64_t>(kernels_.width, g_.n - first);
    const std::int64_t width = kernels_.width;
    if (g_.b_column == 1 || g_.b_row != 1) {
      for (std::int64_t k = from; k < to; ++k, to_row += width) {
        const float* source = g_.b + k * g_.b_row + first * g_.b_column;
        if (g_.b_column == 1) {
          std::memcpy(to_row, source, static_cast<std::size_t>(columns) * sizeof(float));
        } else {
          for (std::int64_t c = 0; c < columns; ++c) to_row[c] = source[c * g_.b_column];
        }
        std::fill(to_row + columns, to_row + width, 0.0f);
      }
      return;
    }
    // k runs along memory: eight steps of one column at a time, so that a cache line is read once.
    for (std::int64_t k = from; k < to; k += 8, to_row += 8 * width) {
      const std::int64_t steps = std::min<std::int64_t>(8, to - k);
      for (std::int64_t c = 0; c < columns; ++c) {
        const float* source = g_.b + k + (first + c) * g_.b_column;
        for (std::int64_t i = 0; i < steps; ++i) to_row[i * width + c] = source[i];
      }
      for (std::int64_t i = 0; i < steps; ++i) std::fill(to_row + i * width + columns, to_row + (i + 1) * width, 0.0f);
    }
  }

  void rows(std::int64_t first_tile, std::int64_t last_tile, std::int64_t first_panel, std::int64_t last_panel) {
    const std::int64_t step = direct_ ? std::max<std::int64_t>(g_.k, 1) : k_block;
    std::int64_t from = 0;
    do {  // once for k = 0 too: the output is zero then
      const std::int64_t to = std::min(from + step, g_.k);
      block(first_tile, last_tile, first_panel, last_panel, from, to);
      from = to;
    } while (from < g_.k);
  }

  void block(std::int64_t first_tile, std::int64_t last_tile, std::int64_t first_panel, std::int64_t last_panel,
             std::int64_t from, std::int64_t to) {
    const std::int64_t length = to - from;
    const int tile_rows = kernels_.rows;
    // Rows are copied next to each other when they are used often enough: equal distances of a power of two share cache sets.
    const bool copy = last_panel - first_panel > 2;
    float* copied = copy ? scratch(static_cast<std::size_t>((last_tile - first_tile) * tile_rows * length)) : nullptr;
    if (copy) {
      for (std::int64_t tile = first_tile; tile < last_tile; ++tile) {
        float* into = copied + (tile - first_tile) * tile_rows * length;
        const int count = row_count(tile);
        for (int r = 0; r < count; ++r) {
          const float* row = g_.a + (tile * tile_rows + r) * g_.a_row + from * g_.a_column;
          for (std::int64_t k = 0; k < length; ++k) into[k * tile_rows + r] = row[k * g_.a_column];
        }
      }
    }
    for (std::int64_t panel = first_panel; panel < last_panel; ++panel) {
      for (std::int64_t at = first_tile; at < last_tile; ++at) {
        std::array<const float*, most_rows> row;
        const int count = row_count(at);
        for (int r = 0; r < count; ++r) {
          row[static_cast<std::size_t>(r)] = copy ? copied + (at - first_tile) * tile_rows * length + r
                                                  : g_.a + (at * tile_rows + r) * g_.a_row + from * g_.a_column;
        }
        Tile t;
        t.rows = row.data();
        t.length = length;
        t.step = copy ? tile_rows : g_.a_column;
        t.row_count = count;
        t.column_count = static_cast<int>(std::min<std::int64_t>(kernels_.width, g_.n - panel * kernels_.width));
        t.panel_row = kernels_.width;
        if (!direct_) {
          t.panel = packed(panel, from, to);
        } else if (t.column_count == kernels_.width) {
          t.panel = g_.b + panel * kernels_.width;
          t.panel_row = g_.b_row;
        } else {
          t.panel = last_panel_.data();
        }
        t.out = g_.out + at * tile_rows * g_.n + panel * kernels_.width;
        t.out_row = g_.n;
        t.accumulate = from > 0;
        kernels_.tile(t);
      }
    }
  }
  int row_count(std::int64_t tile) const {
    return static_cast<int>(std::min<std::int64_t>(kernels_.rows, g_.m - tile * kernels_.rows));
  }

  const Gemm& g_;
  ThreadPool& pool_;
  const Kernels& kernels_;
  std::int64_t panels_ = 0;
  bool direct_ = false;
  std::vector<float> packed_, last_panel_;
};

}  // namespace

void multiply(const Gemm& gemm, ThreadPool& pool) {
  if (gemm.m == 0 || gemm.n == 0) return;
  Product(gemm, pool).run();
}

}  // namespace hearth::runtime::cpu
