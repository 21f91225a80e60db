export { axisBottom, axisLeft } from "d3-axis";
export { scaleBand, scaleLinear, scaleLog } from "d3-scale";
export { create } from "d3-selection";
export { stack } from "d3-shape";
