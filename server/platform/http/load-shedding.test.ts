import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { callerAddress } from '../../access/client-address.ts'
import { LoadShedder, shedLoad } from './load-shedding.ts'

const TICK_MS = 100
const OVERLOAD = { lagMs: 200, cpuShare: 1 }
const NO_LOAD = { lagMs: 1, cpuShare: 0.1 }

interface Caller {
  name: string
  requestsPerSecond: number
  bodyBytes?: number
}

/** Simulates callers with constant rates. Returns the share of each caller's requests that were rejected after the first second. */
function simulate(callers: Caller[], seconds: number, sample: (admittedPerSecond: number) => typeof OVERLOAD) {
  let now = 0
  let random = 0
  const shedder = new LoadShedder(
    () => now,
    () => (random = (random + 0.618) % 1), // evenly distributed
  )
  const counts = new Map(callers.map(({ name }) => [name, { sent: 0, rejected: 0 }]))
  for (; now < seconds * 1000; now += TICK_MS) {
    let admitted = 0
    for (const { name, requestsPerSecond, bodyBytes = 0 } of callers) {
      for (let sent = 0; sent < (requestsPerSecond * TICK_MS) / 1000; sent++) {
        const isRejected = shedder.shouldReject(name, bodyBytes)
        if (!isRejected) admitted++
        if (now < 1000) continue
        const count = counts.get(name)!
        count.sent++
        if (isRejected) count.rejected++
      }
    }
    shedder.sample(sample((admitted * 1000) / TICK_MS))
  }
  const rejectedShares = new Map([...counts].map(([name, { sent, rejected }]) => [name, rejected / sent]))
  return { rejectedShares, shedder }
}

test('while the server is overloaded, the busiest caller is rejected and ordinary callers are not', () => {
  const callers = [
    { name: 'flood', requestsPerSecond: 10_000 },
    { name: 'integration', requestsPerSecond: 100 },
    { name: 'person', requestsPerSecond: 10 },
  ]
  const { rejectedShares } = simulate(callers, 20, (admitted) => (admitted > 2000 ? OVERLOAD : NO_LOAD))
  assert.ok(rejectedShares.get('flood')! > 0.6, `${rejectedShares.get('flood')}`)
  assert.equal(rejectedShares.get('integration'), 0)
  assert.equal(rejectedShares.get('person'), 0)
})

test('a caller with large bodies is rejected before one with as many small requests', () => {
  const callers = [
    { name: 'large', requestsPerSecond: 50, bodyBytes: 200_000 },
    { name: 'small', requestsPerSecond: 50 },
  ]
  const { rejectedShares } = simulate(callers, 10, (admitted) => (admitted > 60 ? OVERLOAD : NO_LOAD))
  assert.ok(rejectedShares.get('large')! > 0.3, `${rejectedShares.get('large')}`)
  assert.equal(rejectedShares.get('small'), 0)
})

test('a caller who is alone is not rejected', () => {
  const { rejectedShares, shedder } = simulate([{ name: 'a', requestsPerSecond: 1000 }], 5, () => OVERLOAD)
  assert.equal(rejectedShares.get('a'), 0)
  let isRejected = false
  for (let request = 0; request < 1000; request++) {
    shedder.shouldReject('b', 0)
    isRejected ||= shedder.shouldReject('a', 0)
  }
  assert.equal(isRejected, true, 'another caller needs the capacity')
})

test('while most responses are slow, a caller may have 64 requests in progress, unless they are alone', () => {
  let now = 0
  const shedder = new LoadShedder(() => now)
  const open = Array.from({ length: 100 }, () => shedder.begin('flood'))
  assert.equal(shedder.shouldReject('flood', 0), false, 'nothing is slow yet')
  now += 100
  for (const request of open.splice(0, 20)) shedder.end(request)
  shedder.sample(NO_LOAD)
  assert.equal(shedder.shouldReject('flood', 0), false, 'nobody else has sent a request')
  assert.equal(shedder.shouldReject('person', 0), false)
  assert.equal(shedder.shouldReject('flood', 0), true)
  for (const request of open.splice(0, 17)) shedder.end(request)
  assert.equal(shedder.shouldReject('flood', 0), false, '63 requests are in progress')
  shedder.begin('flood')
  for (let tick = 0; tick < 25; tick++) {
    shedder.sample(NO_LOAD)
    shedder.end(shedder.begin('person'))
  }
  assert.equal(shedder.isShedding, false)
})

test('after the overload, all requests are accepted again', () => {
  const { shedder } = simulate([{ name: 'a', requestsPerSecond: 1000 }], 5, () => OVERLOAD)
  assert.equal(shedder.isShedding, true)
  for (let tick = 0; tick < 200; tick++) shedder.sample(NO_LOAD)
  assert.equal(shedder.isShedding, false)
})

test('a short delay of the event loop, or one that other processes cause, rejects nothing', () => {
  const busyTicks = simulate([{ name: 'a', requestsPerSecond: 1000 }], 0.4, () => OVERLOAD)
  assert.equal(busyTicks.shedder.isShedding, false)
  const starved = simulate([{ name: 'a', requestsPerSecond: 1000 }], 5, () => ({ lagMs: 500, cpuShare: 0.1 }))
  assert.equal(starved.shedder.isShedding, false)
})

test('all IPv6 addresses of one customer are one caller', async (t) => {
  const callers = new Set<string>()
  class RecordingShedder extends LoadShedder {
    override shouldReject(caller: string, bodyBytes: number): boolean {
      callers.add(caller)
      return super.shouldReject(caller, bodyBytes)
    }
  }
  const { fetch } = await startApp(t, {
    config: { trustProxy: ['127.0.0.1'] },
    extend: (app, { metrics }) =>
      shedLoad(app, { metrics, isAuthenticated: () => true, callerAddress, shedder: new RecordingShedder() }),
  })
  for (const headers of [{}, { 'x-api-key': 'VSK_TEST_unknown' }])
    for (const host of ['1', '2', 'ffff:1', '8:8:8'])
      await fetch('/api/v1/verify', { headers: { ...headers, 'x-forwarded-for': `2001:db8:0:1::${host}` } })
  assert.deepEqual([...callers], ['2001:db8:0:1::/64', '2001:db8:0:1::/64 VSK_TEST_unknown'])
})
