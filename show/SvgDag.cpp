#include "show/SvgViews.h"

#include <algorithm>

namespace colldsl::show {

void drawDag(const Document &document, uint32_t rank, llvm::raw_ostream &out) {
  constexpr double kWidth = 150, kHeight = 26, kLayer = 200, kSlot = 36, kLeft = 20, kTop = 40;
  const ShownSchedule &shown = document.schedules.front();
  const Dag &dag = shown.schedule->ranks[rank];
  SvgCanvas svg(shown.label + ", rank " + std::to_string(rank));
  svg.heading(kLeft, shown.label + ": the ops of rank " + std::to_string(rank));
  std::vector<uint32_t> layer(dag.size()), slot(dag.size()), used;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      layer[i] = std::max(layer[i], layer[index(dep.op)] + 1);
    used.resize(std::max<size_t>(used.size(), layer[i] + 1));
    slot[i] = used[layer[i]]++;
  }
  auto x = [&](uint32_t op) { return kLeft + layer[op] * kLayer; };
  auto y = [&](uint32_t op) { return kTop + slot[op] * kSlot; };
  for (uint32_t i = 0; i < dag.size(); ++i)
    for (const Dep &dep : dag.depsOf(dag.ops[i]))
      svg.arrow(x(index(dep.op)) + kWidth, y(index(dep.op)) + kHeight / 2, x(i), y(i) + kHeight / 2,
                "arrow");
  for (uint32_t i = 0; i < dag.size(); ++i) {
    svg.rect(x(i), y(i), kWidth, kHeight, "node");
    svg.rect(x(i), y(i), 5, kHeight, classOf(dag.ops[i].kind));
    svg.text(x(i) + 11, y(i) + 17, std::to_string(i) + ": " + opName(dag.ops[i]));
  }
  uint32_t rows = used.empty() ? 1 : *std::max_element(used.begin(), used.end());
  double bottom = kTop + rows * kSlot + 6;
  svg.legend(kLeft, bottom,
             {{"send", "send"}, {"receive", "receive"}, {"local", "copy, combine, calc"}});
  svg.finish(kLeft + std::max<double>(2, static_cast<double>(used.size())) * kLayer, bottom + 24,
             out);
}

} // namespace colldsl::show
