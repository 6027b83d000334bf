import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Listener } from './listener.ts'
import { openTopics } from './notifications.ts'

/** Processes that hear each other as through PostgreSQL: everybody hears everything, the teller too. */
function channel() {
  const sent: string[] = []
  const hearers: ((text: string) => void)[] = []
  const listener: Listener = {
    async on(_channel, hear) {
      hearers.push(hear)
    },
    close: async () => {},
  }
  return {
    sent,
    listener,
    notify: async (_channel: string, text: string) => {
      sent.push(text)
      for (const hear of hearers) hear(text)
    },
    reconnect() {
      for (const hear of hearers) hear('')
    },
  }
}

test('what one process tells, it hears at once and others hear once', async () => {
  const line = channel()
  const [one, other] = [openTopics(line.notify), openTopics(line.notify)]
  await Promise.all([one.listen(line.listener), other.listen(line.listener)])
  const heard: string[] = []
  one.on('of two words', (own) => heard.push(`one ${own}`))
  other.on('of two words', (own) => heard.push(`other ${own}`))
  other.on('b', () => heard.push('b'))
  one.tell('of two words')
  assert.equal(heard[0], 'one true')
  await one.settle()
  assert.deepEqual(heard, ['one true', 'other false'])
})

test('topics told together go out together; a flood of one goes out at once and once more later', async () => {
  const line = channel()
  const topics = openTopics(line.notify)
  let own = 0
  topics.on('a', () => own++)
  for (let i = 0; i < 1000; i++) topics.tell(i % 2 ? 'a' : 'b')
  await turns()
  for (let i = 0; i < 1000; i++) topics.tell('a')
  await turns()
  assert.equal(own, 1500)
  assert.deepEqual(
    line.sent.map((text) => text.split(',').slice(1).sort()),
    [['a', 'b']],
  )
  await topics.settle()
  assert.equal(line.sent.length, 2)
  assert.match(line.sent[1]!, /,a$/)
})

test('a topic does not wait for another', async () => {
  const line = channel()
  const topics = openTopics(line.notify)
  topics.tell('a')
  await turns()
  topics.tell('b')
  await turns()
  assert.equal(line.sent.length, 2)
  assert.match(line.sent[1]!, /,b$/)
})

async function turns() {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

test('after a reconnection every topic is looked at again', async () => {
  const line = channel()
  const topics = openTopics(line.notify)
  await topics.listen(line.listener)
  const heard: string[] = []
  topics.on('a', () => heard.push('a'))
  topics.on('b', () => heard.push('b'))
  line.reconnect()
  assert.deepEqual(heard, ['a', 'b'])
})

test('a word that cannot be sent is lost, and the next one goes out', async () => {
  const sent: string[] = []
  let broken = true
  const topics = openTopics(async (_channel, text) => {
    if (broken) throw new Error('no connection')
    sent.push(text)
  })
  topics.tell('a')
  await topics.settle()
  broken = false
  topics.tell('b')
  await topics.settle()
  assert.equal(sent.length, 1)
  assert.match(sent[0]!, /,b$/)
})
