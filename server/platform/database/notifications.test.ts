import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Listener } from './listener.ts'
import { openNotifications } from './notifications.ts'

/** Returns a fake PostgreSQL channel: every process receives every notification, the sender included. */
function createChannel() {
  const sentTexts: string[] = []
  const receivers: ((text: string) => void)[] = []
  const listener: Listener = {
    async on(_channel, onNotification) {
      receivers.push(onNotification)
    },
    close: async () => {},
  }
  return {
    sentTexts,
    listener,
    notify: async (_channel: string, text: string) => {
      sentTexts.push(text)
      for (const receive of receivers) receive(text)
    },
    reconnect() {
      for (const receive of receivers) receive('')
    },
  }
}

test('the publishing process is notified immediately, and other processes once', async () => {
  const channel = createChannel()
  const [one, other] = [openNotifications(channel.notify), openNotifications(channel.notify)]
  await Promise.all([one.listen(channel.listener), other.listen(channel.listener)])
  const calledSubscribers: string[] = []
  one.subscribe('of two words', (isOwn) => calledSubscribers.push(`one ${isOwn}`))
  other.subscribe('of two words', (isOwn) => calledSubscribers.push(`other ${isOwn}`))
  other.subscribe('b', () => calledSubscribers.push('b'))
  one.publish('of two words')
  assert.equal(calledSubscribers[0], 'one true')
  await one.flush()
  assert.deepEqual(calledSubscribers, ['one true', 'other false'])
})

test('topics published together are sent together; a topic published often is sent immediately and once more later', async () => {
  const channel = createChannel()
  const notifications = openNotifications(channel.notify)
  let ownCalls = 0
  notifications.subscribe('a', () => ownCalls++)
  for (let i = 0; i < 1000; i++) notifications.publish(i % 2 ? 'a' : 'b')
  await runMicrotasks()
  for (let i = 0; i < 1000; i++) notifications.publish('a')
  await runMicrotasks()
  assert.equal(ownCalls, 1500)
  assert.deepEqual(
    channel.sentTexts.map((text) => text.split(',').slice(1).sort()),
    [['a', 'b']],
  )
  await notifications.flush()
  assert.equal(channel.sentTexts.length, 2)
  assert.match(channel.sentTexts[1]!, /,a$/)
})

test('a topic is sent immediately even if another topic is waiting', async () => {
  const channel = createChannel()
  const notifications = openNotifications(channel.notify)
  notifications.publish('a')
  await runMicrotasks()
  notifications.publish('b')
  await runMicrotasks()
  assert.equal(channel.sentTexts.length, 2)
  assert.match(channel.sentTexts[1]!, /,b$/)
})

async function runMicrotasks() {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

test('every subscriber is called after a reconnection', async () => {
  const channel = createChannel()
  const notifications = openNotifications(channel.notify)
  await notifications.listen(channel.listener)
  const calledSubscribers: string[] = []
  notifications.subscribe('a', () => calledSubscribers.push('a'))
  notifications.subscribe('b', () => calledSubscribers.push('b'))
  channel.reconnect()
  assert.deepEqual(calledSubscribers, ['a', 'b'])
})

test('a notification that cannot be sent is lost, and the next notification is sent', async () => {
  const sentTexts: string[] = []
  let broken = true
  const notifications = openNotifications(async (_channel, text) => {
    if (broken) throw new Error('no connection')
    sentTexts.push(text)
  })
  notifications.publish('a')
  await notifications.flush()
  broken = false
  notifications.publish('b')
  await notifications.flush()
  assert.equal(sentTexts.length, 1)
  assert.match(sentTexts[0]!, /,b$/)
})
