import"./chunk.BA7DMZZH.js";
