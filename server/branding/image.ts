/** Reads the type and the size of an image from its first bytes. The name and the declared type of a file are not trusted. */

export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp'

export interface ImageInfo {
  type: ImageType
  width: number
  height: number
  isAnimated: boolean
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Chunks before the image data of a PNG file. A file of many tiny ones would take a lot of time. */
const MAX_PNG_HEADER_CHUNKS = 2_000

/** Returns undefined for files that are not a complete header of a PNG, JPEG or WebP image. */
export function readImage(bytes: Buffer): ImageInfo | undefined {
  try {
    if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return readPng(bytes)
    if (bytes.readUInt16BE(0) === 0xffd8) return readJpeg(bytes)
    if (textAt(bytes, 0) === 'RIFF' && textAt(bytes, 8) === 'WEBP') return readWebP(bytes)
    return undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined // the file ends in the header
    throw error
  }
}

function textAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 4)
}

function readPng(bytes: Buffer): ImageInfo | undefined {
  if (textAt(bytes, 12) !== 'IHDR') return undefined
  let isAnimated = false
  let chunks = 0
  // The chunk acTL of an animation is before the first chunk of image data.
  for (let offset = 8; textAt(bytes, offset + 4) !== 'IDAT'; offset += bytes.readUInt32BE(offset) + 12) {
    if (++chunks > MAX_PNG_HEADER_CHUNKS) return undefined
    if (textAt(bytes, offset + 4) === 'acTL') isAnimated = true
  }
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), isAnimated }
}

/** Markers of frames, which contain the size: C0 to CF, without those of tables and arithmetic coding. */
function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function readJpeg(bytes: Buffer): ImageInfo | undefined {
  for (let offset = 2; ; ) {
    if (bytes.readUInt8(offset) !== 0xff) return undefined
    const marker = bytes.readUInt8(offset + 1)
    if (marker === 0xff) {
      offset += 1 // fill byte
      continue
    }
    if (isFrameMarker(marker))
      return {
        type: 'image/jpeg',
        height: bytes.readUInt16BE(offset + 5),
        width: bytes.readUInt16BE(offset + 7),
        isAnimated: false,
      }
    if (marker === 0xda || marker === 0xd9) return undefined // image data without a frame
    offset += 2 + bytes.readUInt16BE(offset + 2)
  }
}

function readWebP(bytes: Buffer): ImageInfo | undefined {
  const format = textAt(bytes, 12)
  const image = { type: 'image/webp', isAnimated: false } as const
  if (format === 'VP8 ') {
    if (bytes.readUIntBE(23, 3) !== 0x9d012a) return undefined
    return { ...image, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  }
  if (format === 'VP8L') {
    if (bytes.readUInt8(20) !== 0x2f) return undefined
    const bits = bytes.readUInt32LE(21)
    return { ...image, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (format !== 'VP8X') return undefined
  const isAnimated = (bytes.readUInt8(20) & 0x02) !== 0
  return { ...image, isAnimated, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
}
