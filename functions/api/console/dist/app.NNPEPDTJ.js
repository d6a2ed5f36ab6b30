import"./chunk.BVO7HZOY.js";
