import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recentBodies, recentFinds } from './response-cache.ts'
import type { Snapshot } from './snapshot.ts'

const [one, other] = [{ version: 1 }, { version: 2 }] as Snapshot[] as [Snapshot, Snapshot]
const KILOBYTE = 1024

function asked(bytes = KILOBYTE) {
  const recent = recentBodies()
  const found: string[] = []
  const ask = (snapshot: Snapshot, question: string) =>
    recent.answer(snapshot, question, () => {
      found.push(question)
      return { body: Buffer.alloc(bytes) }
    })
  return { ask, found }
}

test('what was asked twice of late is not looked for again, in the same catalogue', () => {
  const { ask, found } = asked()
  ask(one, 'weld')
  const second = ask(one, 'weld')
  assert.equal(ask(one, 'weld'), second)
  assert.deepEqual(found, ['weld', 'weld'])
  assert.notEqual(ask(other, 'weld'), second)
  assert.equal(found.length, 3)
})

test('what nobody asks for any more makes room; what is asked for stays', () => {
  const { ask, found } = asked(64 * KILOBYTE)
  for (let turn = 0; turn < 200; turn++) {
    ask(one, 'often')
    ask(one, `twice ${turn}`)
    ask(one, `twice ${turn}`)
  }
  const looks = (question: string) => found.filter((asked) => asked === question).length
  assert.equal(looks('often'), 2)
  ask(one, 'twice 0')
  ask(one, 'twice 199')
  assert.equal(looks('twice 0'), 3)
  assert.equal(looks('twice 199'), 2)
})

test('what was found is remembered for thousands of questions', () => {
  const finds = recentFinds<{ found: string[] }>()
  let looks = 0
  const ask = (question: string) =>
    finds.answer(one, question, () => {
      looks++
      return { found: [question] }
    })
  const turn = () => {
    looks = 0
    for (let i = 0; i < 8000; i++) ask(`question ${i}`)
    return looks
  }
  turn()
  turn()
  assert.ok(turn() < 3000)
  for (let i = 0; i < 50_000; i++) for (let time = 0; time < 2; time++) ask(`another ${i}`)
  assert.equal(turn(), 8000)
})

test('a refusal is not kept', () => {
  const { ask, found } = asked()
  const recent = recentBodies()
  assert.throws(() =>
    recent.answer(one, 'page 9', () => {
      throw new Error('beyond the last page')
    }),
  )
  assert.ok(recent.answer(one, 'page 9', () => ask(one, 'page 9')))
  assert.deepEqual(found, ['page 9'])
})
