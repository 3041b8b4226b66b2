// Runs the case of case.json, draws it, and compares every byte with expected.bin.
import { Kernel } from "./kernel.js";

const verdict = document.getElementById("verdict");
const facts = document.getElementById("facts");

function tell(name, text) {
  const [term, description] = [document.createElement("dt"), document.createElement("dd")];
  term.textContent = name;
  description.textContent = text;
  facts.append(term, description);
}

function say(kind, text) {
  verdict.textContent = text;
  document.documentElement.dataset.verdict = kind;
}

async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function draw(turns, { rows, columns, most }) {
  const canvas = document.getElementById("picture");
  [canvas.width, canvas.height] = [columns, rows];
  const pixels = new ImageData(columns, rows);
  turns.forEach((n, k) => {
    const share = Math.sqrt(n / most);
    const inside = n === most;
    const colour = inside ? [0, 0, 0] : [255 * share, 255 * share ** 1.6, 255 * (0.35 + 0.4 * share)];
    pixels.data.set([...colour, 255], 4 * k);
  });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
}

async function main() {
  const kernel = await Kernel.load("manifest.json");
  const plan = await (await fetch("case.json")).json();
  const wanted = new Uint32Array(await (await fetch("expected.bin")).arrayBuffer());
  const began = performance.now();
  const { out } = await kernel.run(plan);
  const took = performance.now() - began;
  const turns = new Uint32Array(out);
  draw(turns, plan.picture);
  const { floats } = kernel.manifest;
  tell("device", [kernel.info.vendor, kernel.info.architecture, kernel.info.description].filter(Boolean).join(", "));
  tell("floats", `${floats.chosen}: ${floats.promise}`);
  tell("time", `${took.toFixed(0)} ms, the transfers included`);
  tell("sha256", await sha256(out));
  tell("expected", await sha256(wanted.buffer));
  const wrong = [...wanted.keys()].filter((k) => turns[k] !== wanted[k]);
  if (turns.length === wanted.length && !wrong.length) {
    say("same", `All ${out.byteLength.toLocaleString("en")} bytes are the same.`);
  } else if (turns.length !== wanted.length) {
    say("different", `${turns.length} elements came back, and ${wanted.length} were expected.`);
  } else {
    const k = wrong[0];
    say(
      "different",
      `${wrong.length.toLocaleString("en")} of ${wanted.length.toLocaleString("en")} elements differ: ` +
        `out[${k}] is ${turns[k]}, and ${wanted[k]} was expected.`,
    );
  }
}

main().catch((error) => say("error", error.message));
