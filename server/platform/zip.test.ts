import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { isZip, writeZip, ZipError, ZipReader } from './zip.ts'

const LIMITS = { maxEntries: 5, maxEntryBytes: 10_000, maxTotalBytes: 15_000 }
const file = (name: string, content = name) => ({ name, content: Buffer.from(content) })
const open = (bytes: Buffer) => new ZipReader(bytes, LIMITS)

/** Replaces a text in all entries by one of the same length. */
function rename(bytes: Buffer, from: string, to: string): Buffer {
  assert.equal(from.length, to.length)
  return Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1')
}

test('files are written and read again', () => {
  const files = [file('a.txt', ''), file('folder/ब.xml', 'x'.repeat(9000))]
  const bytes = writeZip(files)
  assert.ok(isZip(bytes))
  assert.deepEqual(bytes, writeZip(files), 'the same files give the same bytes')
  const zip = open(bytes)
  assert.deepEqual(zip.names, ['a.txt', 'folder/ब.xml'])
  for (const { name, content } of files) assert.deepEqual(zip.read(name), content)
  assert.throws(() => zip.read('b.txt'), /does not contain b\.txt/)
  assert.deepEqual(open(writeZip([])).names, [])
})

test('sizes and numbers of entries are limited', () => {
  const large = open(writeZip([file('a', 'x'.repeat(10_001)), file('b', 'x'.repeat(4999))]))
  assert.deepEqual([large.sizeOf('a'), large.sizeOf('b'), large.sizeOf('c')], [10_001, 4999, undefined])
  assert.throws(() => large.read('a'), /larger than 10,000 bytes/)
  large.read('b')
  const tooLarge = writeZip([file('a', 'x'.repeat(10_000)), file('b', 'x'.repeat(5001))])
  assert.throws(() => open(tooLarge), /larger than 15,000 bytes together/)
  assert.equal(open(writeZip([file('a', 'x'.repeat(10_000)), file('b', 'x'.repeat(5000))])).names.length, 2)
  assert.throws(() => open(writeZip('abcdef'.split('').map((name) => file(name)))), /6 entries; at most 5/)
})

test('entries that share their data are rejected', () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const bytes = writeZip(names.map((name) => file(name, `${name}${randomBytes(200).toString('hex')}`)))
  const overlapping = Buffer.from(bytes)
  let offset = bytes.indexOf(Buffer.from('PK\x01\x02'))
  for (const _ of names) {
    overlapping.writeUInt32LE(bytes.length / 4, offset + 20)
    offset = overlapping.indexOf(Buffer.from('PK\x01\x02'), offset + 1)
  }
  assert.equal(open(bytes).names.length, 5)
  assert.throws(() => open(overlapping), /the directory of the ZIP file is damaged/)
})

test('names that are not relative, and repeated names, are rejected', () => {
  const bytes = writeZip([file('aaaa.xml'), file('bbbb.xml')])
  for (const name of [
    '/aaa.xml',
    '../a.xml',
    'a/../xml',
    'C:aa.xml',
    'a\\aa.xml',
    'a\0aa.xml',
    '~/aa.xml',
    './aa.xml',
    'aaaa.x/.',
    'aaaaa/..',
  ])
    assert.throws(() => open(rename(bytes, 'aaaa.xml', name)), /is not allowed/, name)
  assert.throws(() => open(rename(bytes, 'aaaa.xml', 'bbbb.xml')), /contains bbbb\.xml twice/)
})

test('encrypted files, symbolic links and other methods are rejected', () => {
  const change = (offset: number, value: number) => {
    const bytes = writeZip([file('a.xml')])
    const directory = bytes.indexOf(Buffer.from('PK\x01\x02'))
    bytes.writeUInt16LE(value, directory + offset)
    return bytes
  }
  assert.throws(() => open(change(8, 1)), /is encrypted/)
  assert.throws(() => open(change(10, 14)), /unknown method/)
  assert.throws(() => open(change(40, 0xa1ff)), /symbolic link/)
  assert.throws(() => open(change(24, 100)).read('a.xml'), /is damaged/)
  assert.throws(() => open(change(42, 60_000)).read('a.xml'), /is damaged/)
})

test('damaged files never throw another error than a ZipError', () => {
  const bytes = writeZip([file('a.xml', 'x'.repeat(300)), file('b.xml')])
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      fc.nat(bytes.length),
      (changes, length) => {
        const damaged = Buffer.from(bytes)
        for (const [offset, value] of changes) damaged[offset] = value
        try {
          const zip = open(length % 2 ? damaged : damaged.subarray(0, length))
          for (const name of zip.names) zip.read(name)
        } catch (error) {
          assert.ok(error instanceof ZipError, String(error))
        }
      },
    ),
    { numRuns: 3000 },
  )
})
