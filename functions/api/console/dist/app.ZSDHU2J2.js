import"./chunk.5RHTBCME.js";
