import type { ImageType } from '../../branding/image.ts'

/** Images have few segments or chunks. A file of many tiny ones would take a lot of time and memory. */
const MAX_PARTS = 2_000

/**
 * Removes metadata such as place, time and camera from an image without decoding it: only the parts that are needed to show the image are
 * copied. Bytes after the end of the image are removed too. Returns undefined if the file is damaged or has too many parts.
 */
export function stripMetadata(bytes: Buffer, type: ImageType): Buffer | undefined {
  try {
    if (type === 'image/jpeg') return stripJpeg(bytes)
    return type === 'image/png' ? stripPng(bytes) : stripWebP(bytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined // the file ends within a segment
    throw error
  }
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const APP15 = 0xef
const COM = 0xfe

function stripJpeg(bytes: Buffer): Buffer | undefined {
  const kept: Buffer[] = [Buffer.of(0xff, SOI)]
  for (let offset = 2, parts = 0; parts < MAX_PARTS; ) {
    if (bytes.readUInt8(offset) !== 0xff) return undefined
    const marker = bytes.readUInt8(offset + 1)
    if (marker === 0xff) {
      offset += 1 // fill byte
      continue
    }
    if (marker === EOI) return Buffer.concat([...kept, Buffer.of(0xff, EOI)])
    parts++
    const length = bytes.readUInt16BE(offset + 2)
    const end = offset + 2 + length
    if (length < 2 || end > bytes.length) return undefined
    const segment = bytes.subarray(offset, end)
    if (isShownSegment(marker, segment)) kept.push(segment)
    else if (marker === APP1) kept.push(...orientationSegment(segment))
    offset = end
    if (marker !== SOS) continue
    const nextMarker = endOfScan(bytes, offset)
    kept.push(bytes.subarray(offset, nextMarker))
    offset = nextMarker
  }
  return undefined
}

/** Returns whether a segment is needed to show the image: colour profiles are, other application data and comments are not. */
function isShownSegment(marker: number, segment: Buffer): boolean {
  if (marker === APP0) return segment.toString('latin1', 4, 9) === 'JFIF\0'
  if (marker === APP2) return segment.toString('latin1', 4, 16) === 'ICC_PROFILE\0'
  if (marker === APP14) return segment.toString('latin1', 4, 9) === 'Adobe'
  return marker !== COM && !(marker >= APP0 && marker <= APP15)
}

/** Returns the offset of the marker after the compressed data of a scan. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let offset = start; ; offset += 1) {
    if (bytes.readUInt8(offset) !== 0xff) continue
    const next = bytes.readUInt8(offset + 1)
    const isData = next === 0 || (next >= 0xd0 && next <= 0xd7)
    if (!isData && next !== 0xff) return offset
  }
}

const EXIF_HEADER = 'Exif\0\0'
const ORIENTATION_TAG = 0x0112
const MAX_ORIENTATION = 8

/** Phones store photos as the sensor saw them. Without the orientation, they would be shown rotated. */
function orientationSegment(segment: Buffer): Buffer[] {
  const orientation = readOrientation(segment)
  if (orientation === undefined || orientation < 2 || orientation > MAX_ORIENTATION) return []
  const exif = Buffer.alloc(36)
  exif.writeUInt16BE(0xff00 | APP1, 0)
  exif.writeUInt16BE(exif.length - 2, 2)
  exif.write(EXIF_HEADER, 4, 'latin1')
  exif.write('MM\0*', 10, 'latin1')
  exif.writeUInt32BE(8, 14) // offset of the directory
  exif.writeUInt16BE(1, 18) // one entry
  exif.writeUInt16BE(ORIENTATION_TAG, 20)
  exif.writeUInt16BE(3, 22) // a 16-bit number
  exif.writeUInt32BE(1, 24)
  exif.writeUInt16BE(orientation, 28)
  return [exif]
}

function readOrientation(segment: Buffer): number | undefined {
  if (segment.toString('latin1', 4, 10) !== EXIF_HEADER) return undefined
  const tiff = segment.subarray(10)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const read16 = (offset: number) => (isLittle ? tiff.readUInt16LE(offset) : tiff.readUInt16BE(offset))
  try {
    const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const entries = read16(directory)
    for (let index = 0; index < entries; index++) {
      const entry = directory + 2 + 12 * index
      if (read16(entry) === ORIENTATION_TAG) return read16(entry + 8)
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error // damaged metadata, which is removed
  }
  return undefined
}

const PNG_SIGNATURE_LENGTH = 8
/** Chunks that are needed to show the image. */
const PNG_CHUNKS = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'cHRM',
  'gAMA',
  'iCCP',
  'sBIT',
  'sRGB',
  'cICP',
  'bKGD',
  'pHYs',
])

function stripPng(bytes: Buffer): Buffer | undefined {
  const kept = [bytes.subarray(0, PNG_SIGNATURE_LENGTH)]
  for (let offset = PNG_SIGNATURE_LENGTH, parts = 0; parts < MAX_PARTS; parts++) {
    const end = offset + 12 + bytes.readUInt32BE(offset)
    const name = bytes.toString('latin1', offset + 4, offset + 8)
    if (end > bytes.length) return undefined
    if (PNG_CHUNKS.has(name)) kept.push(bytes.subarray(offset, end))
    if (name === 'IEND') return Buffer.concat(kept)
    offset = end
  }
  return undefined
}

const WEBP_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ICCP'])
const WEBP_HEADER_LENGTH = 12
/** Flags of the chunk VP8X for metadata in EXIF and XMP. */
const WEBP_METADATA_FLAGS = 0x08 | 0x04

function stripWebP(bytes: Buffer): Buffer | undefined {
  const fileEnd = 8 + bytes.readUInt32LE(4)
  if (fileEnd > bytes.length) return undefined
  const kept: Buffer[] = []
  for (let offset = WEBP_HEADER_LENGTH, parts = 0; offset < fileEnd; parts++) {
    const name = bytes.toString('latin1', offset, offset + 4)
    const length = bytes.readUInt32LE(offset + 4)
    const end = offset + 8 + length + (length % 2)
    if (end > fileEnd || parts >= MAX_PARTS) return undefined
    if (WEBP_CHUNKS.has(name)) {
      const chunk = Buffer.from(bytes.subarray(offset, end))
      if (name === 'VP8X') chunk.writeUInt8(chunk.readUInt8(8) & ~WEBP_METADATA_FLAGS, 8)
      kept.push(chunk)
    }
    offset = end
  }
  const header = Buffer.from(bytes.subarray(0, WEBP_HEADER_LENGTH))
  const stripped = Buffer.concat([header, ...kept])
  stripped.writeUInt32LE(stripped.length - 8, 4)
  return stripped
}
