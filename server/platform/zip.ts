import { isUtf8 } from 'node:buffer'
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Reads and writes small ZIP files in memory (PKWARE APPNOTE 6.3). Files from strangers are expected: entries are decompressed only when
 * they are read, the sizes are limited, and names are keys that never become paths of the file system.
 */

export class ZipError extends Error {}

export interface ZipLimits {
  maxEntries: number
  maxEntryBytes: number
  /** Of all entries together. */
  maxTotalBytes: number
}

interface ZipEntry {
  method: number
  crc: number
  compressedSize: number
  size: number
  offset: number
}

const END_SIGNATURE = 0x06054b50
const CENTRAL_SIGNATURE = 0x02014b50
const LOCAL_SIGNATURE = 0x04034b50
const END_BYTES = 22
const CENTRAL_BYTES = 46
const LOCAL_BYTES = 30
const MAX_COMMENT_BYTES = 0xffff
const STORED = 0
const DEFLATED = 8
/** File type bits of a UNIX mode, and their value for a symbolic link. */
const FILE_TYPE_MASK = 0xf000
const SYMBOLIC_LINK = 0xa000

export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && (bytes[2] === 3 || bytes[2] === 5)
}

export class ZipReader {
  readonly #bytes: Buffer
  readonly #limits: ZipLimits
  readonly #entries: Map<string, ZipEntry>

  constructor(bytes: Buffer, limits: ZipLimits) {
    this.#bytes = bytes
    this.#limits = limits
    this.#entries = readDirectory(bytes, limits)
  }

  /** Names of the files, without folders. */
  get names(): string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Returns the size of a file before it is decompressed, or undefined if there is no such file. */
  sizeOf(name: string): number | undefined {
    return this.#entries.get(name)?.size
  }

  /** Returns the content of a file. */
  read(name: string): Buffer {
    const entry = this.#entries.get(name)
    if (!entry) throw new ZipError(`the ZIP file does not contain ${name}`)
    const { maxEntryBytes } = this.#limits
    if (entry.size > maxEntryBytes)
      throw new ZipError(`${name} is larger than ${maxEntryBytes.toLocaleString('en')} bytes`)
    const content = this.#decompress(name, entry)
    if (content.length !== entry.size || crc32(content) !== entry.crc)
      throw new ZipError(`${name} is damaged: its checksum is wrong; create the ZIP file again`)
    return content
  }

  #decompress(name: string, { offset, compressedSize, method, size }: ZipEntry): Buffer {
    const bytes = this.#bytes
    if (offset + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(offset) !== LOCAL_SIGNATURE) throw damagedError(name)
    const start = offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
    if (start + compressedSize > bytes.length) throw damagedError(name)
    const data = bytes.subarray(start, start + compressedSize)
    if (method === STORED) return data
    try {
      // The declared size can be a lie: the output never becomes longer than it.
      return inflateRawSync(data, { maxOutputLength: Math.max(1, size) })
    } catch {
      throw damagedError(name)
    }
  }
}

function damagedError(name: string) {
  return new ZipError(`${name} is damaged; create the ZIP file again`)
}

function readDirectory(bytes: Buffer, { maxEntries, maxTotalBytes }: ZipLimits): Map<string, ZipEntry> {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  let offset = bytes.readUInt32LE(end + 16)
  if (bytes.readUInt16LE(end + 4) !== 0 || bytes.readUInt16LE(end + 8) !== count)
    throw new ZipError('the ZIP file has several parts; create it as one file')
  if (count === 0xffff || offset === 0xffffffff) throw new ZipError('the format ZIP64 is not supported')
  if (count > maxEntries) throw new ZipError(`the ZIP file has ${count} entries; at most ${maxEntries} are allowed`)
  const entries = new Map<string, ZipEntry>()
  let totalBytes = 0
  let compressedBytes = 0
  for (let index = 0; index < count; index++) {
    if (offset + CENTRAL_BYTES > end || bytes.readUInt32LE(offset) !== CENTRAL_SIGNATURE)
      throw new ZipError('the directory of the ZIP file is damaged; create it again')
    const nameLength = bytes.readUInt16LE(offset + 28)
    const next = offset + CENTRAL_BYTES + nameLength + bytes.readUInt16LE(offset + 30) + bytes.readUInt16LE(offset + 32)
    if (next > end) throw new ZipError('the directory of the ZIP file is damaged; create it again')
    const name = decodeName(bytes.subarray(offset + CENTRAL_BYTES, offset + CENTRAL_BYTES + nameLength))
    const entry = {
      method: bytes.readUInt16LE(offset + 10),
      crc: bytes.readUInt32LE(offset + 16),
      compressedSize: bytes.readUInt32LE(offset + 20),
      size: bytes.readUInt32LE(offset + 24),
      offset: bytes.readUInt32LE(offset + 42),
    }
    const isEncrypted = (bytes.readUInt16LE(offset + 8) & 1) === 1
    const fileType = (bytes.readUInt32LE(offset + 38) >>> 16) & FILE_TYPE_MASK
    offset = next
    if (name.endsWith('/')) continue
    if (isEncrypted) throw new ZipError(`${name} is encrypted; create the ZIP file without a password`)
    if (fileType === SYMBOLIC_LINK) throw new ZipError(`${name} is a symbolic link; include the file itself`)
    if (entry.method !== STORED && entry.method !== DEFLATED)
      throw new ZipError(`${name} is compressed with an unknown method; use the method Deflate`)
    if (entries.has(name)) throw new ZipError(`the ZIP file contains ${name} twice`)
    entries.set(name, entry)
    totalBytes += entry.size
    compressedBytes += entry.compressedSize
  }
  if (totalBytes > maxTotalBytes)
    throw new ZipError(`the files of the ZIP file are larger than ${maxTotalBytes.toLocaleString('en')} bytes together`)
  // Otherwise entries share their data, which lets a small ZIP file expand to any size.
  if (compressedBytes > bytes.length) throw new ZipError('the directory of the ZIP file is damaged; create it again')
  return entries
}

function findEnd(bytes: Buffer): number {
  const lowest = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES)
  for (let offset = bytes.length - END_BYTES; offset >= lowest; offset--)
    if (
      bytes.readUInt32LE(offset) === END_SIGNATURE &&
      offset + END_BYTES + bytes.readUInt16LE(offset + 20) === bytes.length
    )
      return offset
  throw new ZipError('the ZIP file is incomplete; upload it again')
}

/** Empty, absolute or relative to the home folder, with a drive, a backslash or a control character, or with "." or ".." as a part. */
const UNSAFE_NAME = /^$|^[/~]|^[A-Za-z]:|[\\\p{Cc}]|(?:^|\/)\.\.?(?:\/|$)/u

function decodeName(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ZipError('a file name in the ZIP file is not encoded in UTF-8; rename the file')
  const name = bytes.toString()
  if (UNSAFE_NAME.test(name))
    throw new ZipError(
      `the file name ${JSON.stringify(name.slice(0, 80))} is not allowed; use relative names with "/" and without ".."`,
    )
  return name
}

export interface ZipFile {
  name: string
  content: Buffer
}

/** Midnight of 1 January 1980, the first time that ZIP files can contain: the same files give the same bytes. */
const DOS_DATE = 0x21
const UTF8_NAMES = 0x800
const VERSION_NEEDED = 20

export function writeZip(files: readonly ZipFile[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of files) {
    const nameBytes = Buffer.from(name)
    const compressed = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(VERSION_NEEDED, 0)
    common.writeUInt16LE(UTF8_NAMES, 2)
    common.writeUInt16LE(DEFLATED, 4)
    common.writeUInt16LE(DOS_DATE, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(compressed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const local = [uint32(LOCAL_SIGNATURE), common, nameBytes, compressed]
    const centralStart = Buffer.alloc(6)
    centralStart.writeUInt32LE(CENTRAL_SIGNATURE, 0)
    centralStart.writeUInt16LE(VERSION_NEEDED, 4)
    const centralEnd = Buffer.alloc(14)
    centralEnd.writeUInt32LE(offset, 10)
    directory.push(centralStart, common, centralEnd, nameBytes)
    parts.push(...local)
    offset += local.reduce((sum, part) => sum + part.length, 0)
  }
  const directoryLength = directory.reduce((sum, part) => sum + part.length, 0)
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(END_SIGNATURE, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directoryLength, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, ...directory, end])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value, 0)
  return bytes
}
