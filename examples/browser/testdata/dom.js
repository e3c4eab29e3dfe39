// What the page needs of a browser, for Node: a document that remembers, and frames. It presses the keys
// that its parent writes to standard input, a line each ("down ArrowRight"), and prints what is on the page
// twice a second, as a line of JSON.
"use strict";

const elements = {}, listeners = {};
let drawn = [], dots = [];

const pen = {
	beginPath() {}, fill() {}, fillRect() {}, strokeRect() { drawn = []; },
	arc(x, y) { drawn.push({ x, y, colour: this.fillStyle }); },
	fillText(text) { drawn[drawn.length - 1].name = text; dots = drawn; },
};

function element() {
	return { textContent: "", lines: [], getContext: () => pen, prepend(line) { this.lines.push(line.textContent); } };
}

globalThis.innerWidth = 1000;
globalThis.innerHeight = 800;
globalThis.document = {
	getElementById: id => elements[id] ??= element(),
	createElement: () => element(),
	addEventListener: (event, listener) => { (listeners[event] ??= []).push(listener); },
};
globalThis.requestAnimationFrame = frame => setTimeout(frame, 33);

require("readline").createInterface({ input: process.stdin }).on("line", line => {
	const [what, key] = line.split(" ");
	for (const listener of listeners["key" + what] ?? []) listener({ key });
}).on("close", () => process.exit(0));

setInterval(() => {
	console.log(JSON.stringify({ state: elements.state?.textContent ?? "", says: elements.says?.lines ?? [], dots }));
}, 500);
