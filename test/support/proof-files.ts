import { crc32, deflateSync } from 'node:zlib'

/** Small files with the structure of photos and documents, for tests of proof files. */

function segment(marker: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string, 'latin1')
  const head = Buffer.alloc(4)
  head.writeUInt16BE(0xff00 | marker, 0)
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}

/** Returns a JPEG file with an orientation, a place, XMP data, a comment and bytes after its end. */
export function aJpeg({ orientation = 1 } = {}): Buffer {
  const entry = Buffer.from('0100120103000100000000000000', 'hex') // one entry, little endian: the orientation
  entry.writeUInt16LE(orientation, 10)
  const exif = Buffer.concat([Buffer.from('Exif\0\0II*\0\x08\0\0\0', 'latin1'), entry, Buffer.from('GPS-12.97')])
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    segment(0xe0, 'JFIF\0\x01\x02\0\0\x01\0\x01\0\0'),
    segment(0xe1, exif),
    segment(0xe1, 'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta/>'),
    segment(0xe2, 'ICC_PROFILE\0\x01\x01profile'),
    segment(0xed, 'Photoshop 3.0\0'),
    segment(0xfe, 'by Asha'),
    segment(0xc0, '\x08\0\x10\0\x10\x01\x01\x11\0'),
    segment(0xda, '\x01\x01\0\0\x3f\0'),
    Buffer.of(0x11, 0xff, 0x00, 0x22, 0xff, 0xd9),
    Buffer.from('motion video of the place'),
  ])
}

function chunk(name: string, content: Buffer): Buffer {
  const bytes = Buffer.alloc(content.length + 12)
  bytes.writeUInt32BE(content.length, 0)
  bytes.write(name, 4, 'latin1')
  content.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length)
  return bytes
}

/** Returns a PNG file of one grey pixel, which browsers show. */
export function aPng({ comment }: { comment?: string } = {}): Buffer {
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])),
    ...(comment ? [chunk('tEXt', Buffer.from(`Author\0${comment}`)), chunk('eXIf', Buffer.from(comment))] : []),
    chunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    chunk('IEND', Buffer.alloc(0)),
    ...(comment ? [Buffer.from(comment)] : []),
  ])
}

function riffChunk(name: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from(name), length, content, Buffer.alloc(content.length % 2)])
}

export function aWebP({ metadata = false } = {}): Buffer {
  const chunks = Buffer.concat([
    riffChunk('VP8X', Buffer.from([metadata ? 0x0c : 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
    riffChunk('VP8L', Buffer.from([0x2f, 0, 0, 0, 0])),
    ...(metadata ? [riffChunk('EXIF', Buffer.from('GPS-12.97')), riffChunk('XMP ', Buffer.from('<x/>'))] : []),
  ])
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), chunks]))
}

/** Returns a PDF file with the given objects in it. */
export function aPdf(objects: Buffer | string = ''): Buffer {
  return Buffer.concat([
    Buffer.from('%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n'),
    Buffer.from(objects as string),
    Buffer.from('\ntrailer << /Root 1 0 R >>\n%%EOF\n'),
  ])
}
