/**
 * Assembles the WebAssembly module of `VectorProducts`. JavaScript has no instructions that multiply several numbers at a time or count
 * the bits of a 64-bit number. The module is assembled from the opcodes of the specification, because it is short and a compiler would be a further dependency.
 */

/** Addresses in the memory of the module, in bytes. */
export interface MemoryLayout {
  /** The vector of the phrase, 16-bit integers. */
  phrase: number
  /** The signs of the phrase, 128 bits. */
  phraseSigns: number
  /** The vectors of the words: 8-bit integers, `vectorBytes` for each row. */
  vectors: number
  vectorBytes: number
  /** The number of bytes of a vector that are not padding, rounded up to a multiple of 16. */
  usedVectorBytes: number
  /** The rows to compare, 32-bit integers, and the signs of their vectors, 128 bits each. */
  rows: number
  signs: number
  /** Receives the position in `rows` and the product of each similar row, two 32-bit integers. */
  similar: number
  /** Number of bytes of memory. */
  byteLength: number
}

/** The types of Node.js do not include WebAssembly. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

export interface VectorModule {
  memory: { buffer: ArrayBuffer }
  /** Returns the dot product of the phrase and a row. */
  product(row: number): number
  /** Compares the first `count` of the rows with the phrase. Returns the number of those with at most `maxDifferences` different signs. */
  findSimilar(count: number, maxDifferences: number): number
}

/** Number of bytes that are multiplied together. */
export const BLOCK_BYTES = 16
const SIGN_BYTES = 16
const PAGE_BYTES = 65_536

/** Types of values, and of a block without a value. */
const I32 = 0x7f
const I64 = 0x7e
const NO_VALUE = 0x40

const LOOP = 0x03
const IF = 0x04
const END = 0x0b
const BRANCH_IF = 0x0d
const CALL = 0x10
const LOCAL_GET = 0x20
const LOCAL_SET = 0x21
const I32_LOAD = 0x28
const I64_LOAD = 0x29
const I32_STORE = 0x36
const I32_CONST = 0x41
const I32_LESS = 0x48
const I64_LESS_OR_EQUAL = 0x57
const I32_ADD = 0x6a
const I32_MULTIPLY = 0x6c
const I32_SHIFT_LEFT = 0x74
const I32_SHIFT_RIGHT = 0x75
const I64_EXTEND = 0xac
const I64_COUNT_ONES = 0x7b
const I64_ADD = 0x7c
const I64_XOR = 0x85
const VECTOR_LOAD = [0xfd, 0]
const LANE_OF_I32X4 = [0xfd, 27]
const EXTEND_LOW_I8X16 = [0xfd, ...unsigned(135)]
const EXTEND_HIGH_I8X16 = [0xfd, ...unsigned(136)]
const DOT_I16X8 = [0xfd, ...unsigned(186)]
const ADD_I32X4 = [0xfd, ...unsigned(174)]
const V128 = 0x7b

/** Compiles and instantiates the module. Its memory is filled with zeros. */
export function createVectorModule(layout: MemoryLayout): VectorModule {
  const bytes = [
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [2, 0x60, 1, I32, 1, I32, 0x60, 2, I32, I32, 1, I32]),
    ...section(3, [2, 0, 1]),
    ...section(5, [1, 0, ...unsigned(Math.ceil(layout.byteLength / PAGE_BYTES))]),
    ...section(7, [3, ...exported('memory', 2, 0), ...exported('product', 0, 0), ...exported('findSimilar', 0, 1)]),
    ...section(10, [2, ...sized(productCode(layout)), ...sized(findSimilarCode(layout))]),
  ]
  const instance = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(bytes)))
  return instance.exports as VectorModule
}

/** (row) => the dot product, 16 numbers at a time. */
function productCode({ phrase, vectors, vectorBytes, usedVectorBytes }: MemoryLayout): number[] {
  const [row, at, block, sum] = [0, 1, 2, 3]
  const code = [...[LOCAL_GET, row, I32_CONST, ...signed(vectorBytes), I32_MULTIPLY, LOCAL_SET, at]]
  for (let offset = 0; offset < usedVectorBytes; offset += BLOCK_BYTES)
    code.push(
      ...[LOCAL_GET, at, ...VECTOR_LOAD, 0, ...unsigned(vectors + offset), LOCAL_SET, block, LOCAL_GET, sum],
      ...[LOCAL_GET, block, ...EXTEND_LOW_I8X16, ...loadPhrase(phrase + 2 * offset), ...DOT_I16X8, ...ADD_I32X4],
      ...[LOCAL_GET, block, ...EXTEND_HIGH_I8X16, ...loadPhrase(phrase + 2 * offset + 16), ...DOT_I16X8, ...ADD_I32X4],
      ...[LOCAL_SET, sum],
    )
  for (let lane = 0; lane < 4; lane++) code.push(LOCAL_GET, sum, ...LANE_OF_I32X4, lane, ...(lane > 0 ? [I32_ADD] : []))
  return [2, 1, I32, 2, V128, ...code, END]
}

/** (count, maxDifferences) => the number of similar rows. */
function findSimilarCode(layout: MemoryLayout): number[] {
  const [count, maxDifferences, i, similarAt, firstSigns, secondSigns, limit] = [0, 1, 2, 3, 4, 5, 6]
  const countDifferences = (offset: number, phraseSigns: number) => [
    ...[LOCAL_GET, i, I32_CONST, ...signed(Math.log2(SIGN_BYTES)), I32_SHIFT_LEFT],
    ...[I64_LOAD, 3, ...unsigned(layout.signs + offset), LOCAL_GET, phraseSigns, I64_XOR, I64_COUNT_ONES],
  ]
  const add = (local: number, value: number) => [LOCAL_GET, local, I32_CONST, ...signed(value), I32_ADD]
  return [
    ...[2, 2, I32, 3, I64],
    ...[I32_CONST, 0, I64_LOAD, 3, ...unsigned(layout.phraseSigns), LOCAL_SET, firstSigns],
    ...[I32_CONST, 0, I64_LOAD, 3, ...unsigned(layout.phraseSigns + 8), LOCAL_SET, secondSigns],
    ...[LOCAL_GET, maxDifferences, I64_EXTEND, LOCAL_SET, limit],
    ...[LOOP, NO_VALUE],
    // if (i < count)
    ...[LOCAL_GET, i, LOCAL_GET, count, I32_LESS, IF, NO_VALUE],
    // similar[similarAt] = i; if (the number of different signs <= limit) similarAt += 8
    ...[LOCAL_GET, similarAt, LOCAL_GET, i, I32_STORE, 2, ...unsigned(layout.similar)],
    ...[...countDifferences(0, firstSigns), ...countDifferences(8, secondSigns), I64_ADD],
    ...[LOCAL_GET, limit, I64_LESS_OR_EQUAL, I32_CONST, 3, I32_SHIFT_LEFT],
    ...[LOCAL_GET, similarAt, I32_ADD, LOCAL_SET, similarAt],
    // i++, and repeat
    ...[...add(i, 1), LOCAL_SET, i, I32_CONST, 1, BRANCH_IF, 1],
    END,
    END,
    // Add the products, in a second loop, so that the processor reads several vectors at the same time.
    ...[I32_CONST, 0, LOCAL_SET, i],
    ...[LOOP, NO_VALUE],
    ...[LOCAL_GET, i, LOCAL_GET, similarAt, I32_LESS, IF, NO_VALUE],
    ...[LOCAL_GET, i, LOCAL_GET, i, I32_LOAD, 2, ...unsigned(layout.similar), I32_CONST, 2, I32_SHIFT_LEFT],
    ...[I32_LOAD, 2, ...unsigned(layout.rows), CALL, 0, I32_STORE, 2, ...unsigned(layout.similar + 4)],
    ...[...add(i, 8), LOCAL_SET, i, I32_CONST, 1, BRANCH_IF, 1],
    END,
    END,
    // similarAt / 8
    ...[LOCAL_GET, similarAt, I32_CONST, 3, I32_SHIFT_RIGHT],
    END,
  ]
}

function loadPhrase(address: number): number[] {
  return [I32_CONST, 0, ...VECTOR_LOAD, 0, ...unsigned(address)]
}

function section(id: number, content: number[]): number[] {
  return [id, ...sized(content)]
}

function sized(content: number[]): number[] {
  return [...unsigned(content.length), ...content]
}

function exported(name: string, kind: number, index: number): number[] {
  return [...sized([...Buffer.from(name)]), kind, index]
}

/** Returns the variable-length encoding (LEB128) of a natural number. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}

/** Returns the signed variable-length encoding of a natural number. */
function signed(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)]
}
