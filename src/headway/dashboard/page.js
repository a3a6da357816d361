"use strict";
// Say what lies under the pointer: each plot carries its places and texts in data-tips.
for (const plot of document.querySelectorAll("svg.plot")) {
  const tips = JSON.parse(plot.dataset.tips);
  const figure = plot.closest("figure");
  const tip = figure.querySelector(".tip");
  const cross = plot.querySelector(".cross");
  const width = plot.viewBox.baseVal.width;
  const show = (event) => {
    const box = plot.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    let near = 0;
    tips.x.forEach((x, n) => {
      if (Math.abs(x - at) < Math.abs(tips.x[near] - at)) near = n;
    });
    const x = tips.x[near];
    cross.setAttribute("x1", x);
    cross.setAttribute("x2", x);
    tip.textContent = tips.text[near];
    const place = (x / width) * box.width + box.left - figure.getBoundingClientRect().left;
    const right = place > box.width / 2;
    tip.style.left = right ? "" : `${place + 10}px`;
    tip.style.right = right ? `${figure.clientWidth - place + 10}px` : "";
    cross.style.visibility = tip.style.visibility = "visible";
  };
  const hide = () => {
    cross.style.visibility = tip.style.visibility = "hidden";
  };
  if (!tips.x.length) continue;
  plot.addEventListener("pointermove", show);
  plot.addEventListener("pointerdown", show);
  plot.addEventListener("pointerleave", hide);
}
