import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { fieldList, print, table } from './print.ts'

test('control characters in partner texts are not printed', () => {
  const name = '\u001b]0;owned\u0007\u001b[2J\u202eAsha\u0000'
  for (const text of [table(['NAME'], [[name]], ''), fieldList([['name', name]])]) {
    assert.doesNotMatch(text, /(?!\n)[\p{Cc}\u202e]/u)
    assert.match(text, /Asha/)
  }
})

test('stored texts cannot control the terminal', (t) => {
  const text = 'Asha\u001b[2J\u009b2J\u202e \u0007\nRao'
  const write = t.mock.method(process.stdout, 'write', () => true)
  const run = (args: string[]) => {
    const command = new Command().option('--json').parse(args, { from: 'user' })
    print(command, { text }, () => `Rejected ${text}`)
    return String(write.mock.calls.at(-1)!.arguments[0])
  }
  const [plain, json] = [run([]), run(['--json'])]
  write.mock.restore()
  assert.equal(plain, 'Rejected Asha[2J2J \nRao\n')
  assert.doesNotMatch(json, /(?!\n)[\p{Cc}\u202e]/u)
  assert.deepEqual(JSON.parse(json), { text })
})
