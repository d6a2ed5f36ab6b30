import"./chunk.JI3HNUSB.js";
