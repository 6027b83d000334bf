import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bakeCredential, readCredentialFile } from './baked-image.ts'

const CREDENTIAL = '{"name":"Käse & Brot"}'

function pngWith(...chunks: [type: string, data: Buffer][]) {
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    ...chunks.map(([type, data]) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(data.length)
      return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
    }),
  ])
}

const bakedText = (text: string) => Buffer.from(`openbadgecredential\0\0\0\0\0${text}`)

test('a credential is read from a PNG image', () => {
  const header: [string, Buffer] = ['IHDR', Buffer.alloc(13)]
  const comment: [string, Buffer] = ['iTXt', Buffer.from('Comment\0\0\0\0\0hello')]
  assert.equal(
    readCredentialFile(pngWith(header, comment, ['iTXt', bakedText(CREDENTIAL)], ['IEND', Buffer.alloc(0)])),
    CREDENTIAL,
  )
  assert.equal(readCredentialFile(pngWith(header, ['IEND', Buffer.alloc(0)])), '')
})

test('a credential that is baked into a PNG image can be read again', () => {
  const png = pngWith(['IHDR', Buffer.alloc(13)], ['IEND', Buffer.alloc(0)])
  const baked = bakeCredential(png, CREDENTIAL)
  assert.equal(readCredentialFile(baked), CREDENTIAL)
  assert.ok(baked.subarray(0, 33).equals(png.subarray(0, 33)), 'the header stays first')
  assert.equal(baked.toString('latin1', 37, 41), 'iTXt')
  assert.equal(baked.readUInt32BE(baked.length - 16), 343_789_236) // computed with another program
})

test('a damaged PNG image has no credential', () => {
  const complete = pngWith(['iTXt', bakedText(CREDENTIAL)])
  for (let length = 8; length < complete.length; length++)
    assert.ok(!readCredentialFile(complete.subarray(0, length)).includes('\0'))
  const endless = pngWith(['iTXt', Buffer.alloc(0)])
  endless.writeUInt32BE(0xffffffff, 8)
  assert.equal(readCredentialFile(endless), '')
  assert.equal(readCredentialFile(pngWith(['iTXt', Buffer.from('openbadgecredential\0\x01\0\0\0x')])), '')
})

test('a credential is read from an SVG image', () => {
  const svg = (content: string) =>
    Buffer.from(
      `<?xml version="1.0"?>\n<svg xmlns:openbadges="https://purl.imsglobal.org/ob/v3p0">${content}<g/></svg>`,
    )
  const element = (attributes: string, content: string) =>
    svg(`<openbadges:credential${attributes}>${content}</openbadges:credential>`)
  assert.equal(readCredentialFile(element('', `<![CDATA[\n${CREDENTIAL}\n]]>`)).trim(), CREDENTIAL)
  assert.equal(readCredentialFile(element('', CREDENTIAL.replace('&', '&amp;').replaceAll('"', '&quot;'))), CREDENTIAL)
  assert.equal(readCredentialFile(element(' verify="a.b.c"', '')), 'a.b.c')
  assert.equal(readCredentialFile(svg('<openbadges:credential verify="a.b.c"/>')), 'a.b.c')
  assert.equal(readCredentialFile(svg('')), '')
})

test('files with very many chunks or entities are not read, because that takes long', () => {
  const chunks = (count: number) => Array.from({ length: count }, (): [string, Buffer] => ['tEXt', Buffer.alloc(0)])
  assert.equal(readCredentialFile(pngWith(...chunks(900), ['iTXt', bakedText(CREDENTIAL)])), CREDENTIAL)
  assert.equal(readCredentialFile(pngWith(...chunks(1000), ['iTXt', bakedText(CREDENTIAL)])), '')
  const svg = (entities: number) =>
    Buffer.from(`<svg><openbadges:credential>${'&lt;'.repeat(entities)}</openbadges:credential></svg>`)
  assert.equal(readCredentialFile(svg(20_000)), '<'.repeat(20_000))
  assert.equal(readCredentialFile(svg(20_001)), '')
})

test('other files are read as text', () => {
  assert.equal(readCredentialFile(Buffer.from(CREDENTIAL)), CREDENTIAL)
  assert.equal(readCredentialFile(Buffer.from('a.b.c\n')), 'a.b.c\n')
})
