// SPDX-License-Identifier: GPL-2.0-or-later
//
// perfetto-sql.mjs ENGINE TRACE SQL ... [-- TRACE SQL ...]: the program that tools/perfetto-sql
// runs. ENGINE is a directory with Perfetto's trace processor for browsers: the WebAssembly, the
// script by which a worker of Perfetto's UI runs it ("the bridge"), and the client of this worker.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';

const [directory, ...words] = process.argv.slice(2);
const PIECE_BYTES = 16 * 1024 * 1024;

function die(status, what) {
	console.error(`perfetto-sql: ${what}`);
	process.exit(status);
}

// The bridge is written for a worker of a page. Three places of it are changed: it must not request
// 64-bit memory, it must not fetch the WebAssembly from a server, and it must be reachable from
// here.
function loadBridge() {
	let text = readFileSync(join(directory, 'engine_bundle.node.js'), 'utf8');
	const changes = {
		'this.useMemory64 = hasMemory64Support();': 'this.useMemory64 = false;',
		'locateFile: (s) => s,': 'locateFile: (s) => s, wasmBinary: globalThis.kymoEngine.wasm,',
		'const wasmBridge = new wasm_bridge_1.WasmBridge();':
			'const wasmBridge = globalThis.kymoEngine.bridge = new wasm_bridge_1.WasmBridge();',
	};

	for (const [from, to] of Object.entries(changes)) {
		if (!text.includes(from))
			die(3, `the engine has no "${from}"`);
		text = text.replace(from, to);
	}
	globalThis.self = globalThis;
	globalThis.WorkerGlobalScope = class {};
	Object.defineProperty(globalThis, 'location', {
		value: { href: `${pathToFileURL(directory).href}/` },
		configurable: true,
	});
	globalThis.kymoEngine = { wasm: readFileSync(join(directory, 'trace_processor.wasm')) };
	runInThisContext(text, { filename: 'engine_bundle.node.js' });
	return globalThis.kymoEngine.bridge;
}

// There is no event for the end of the compilation of the WebAssembly. From then on, the bridge has
// an address for requests.
async function isReady(bridge) {
	for (let i = 0; i < 5000 && !bridge.reqBufferAddr; i++)
		await new Promise((done) => setTimeout(done, 2));
	if (!bridge.reqBufferAddr)
		die(3, 'the engine does not start');
}

async function connect() {
	const bridge = loadBridge();
	const { EngineBase } = await import(pathToFileURL(join(directory, 'engine.mjs')).href);
	const { port1, port2 } = new MessageChannel();

	class Engine extends EngineBase {
		mode = 'WASM';
		id = 'kymo';

		constructor() {
			super();
			port2.onmessage = (message) => this.onRpcResponseBytes(message.data);
		}

		rpcSendRequestBytes(bytes) {
			port2.postMessage(bytes);
		}
	}
	bridge.initialize(port1);
	const engine = new Engine();
	await isReady(bridge);
	return engine;
}

// JSON has no 64-bit integers. Integers that a double would change are written as texts.
function plain(value) {
	if (typeof value === 'bigint')
		return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
	return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

async function rowsOf(engine, sql) {
	const result = await engine.query(sql);
	const columns = result.columns();
	const rows = [];

	for (const at = result.iter({}); at.valid(); at.next())
		rows.push(Object.fromEntries(columns.map((name) => [name, plain(at.get(name))])));
	return rows;
}

process.on('uncaughtException', (error) => die(3, error?.message ?? error));
// (It warns of unknown fields in its own answers.)
console.warn = () => {};

// Its words, in the groups that "--" separates.
function groupsOf(list) {
	const groups = [[]];

	for (const word of list)
		if (word === '--')
			groups.push([]);
		else
			groups.at(-1).push(word);
	return groups;
}

async function load(engine, trace) {
	const bytes = new Uint8Array(readFileSync(trace));

	for (let at = 0; at < bytes.length; at += PIECE_BYTES)
		await engine.parse(bytes.slice(at, at + PIECE_BYTES));
	await engine.notifyEof();
}

const engine = await connect();
let status = 0;

for (const [i, [trace, ...queries]] of groupsOf(words).entries()) {
	// (The engine takes longer to start than to read a small trace.)
	if (i > 0)
		await engine.resetTraceProcessor({});
	try {
		await load(engine, trace);
	} catch (error) {
		console.error(`perfetto-sql: ${trace}: ${error?.message ?? error}`);
		status = 1;
	}
	for (const sql of queries) {
		try {
			console.log(JSON.stringify(await rowsOf(engine, sql)));
		} catch (error) {
			console.error(`perfetto-sql: ${trace}: ${error?.message ?? error}`);
			status = 1;
		}
	}
}
// (exit() drops what a pipe has not taken yet)
process.stdout.write('', () => process.exit(status));
