import"./chunk.GXQYZ4GW.js";
