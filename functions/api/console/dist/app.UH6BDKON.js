import"./chunk.P5WZ7CYS.js";
