import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { isDatabaseUnavailable, isWithoutEffect, markOutcome, waitForDatabase } from './outage.ts'

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError('failed', 0, 'error'), { code })
}

test('an error of the server, the socket or the driver counts as an outage only if the database is not available', () => {
  // Single codes, such as a shutdown, and classes of codes, such as 08 for connections.
  for (const code of ['57P01', '57014', '53300', '08006'])
    assert.equal(isDatabaseUnavailable(databaseError(code)), true, code)
  for (const code of ['23505', '40001', '42501', '57P04'])
    assert.equal(isDatabaseUnavailable(databaseError(code)), false, code)

  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
  const missingSocket = Object.assign(new Error('connect ENOENT'), { code: 'ENOENT', syscall: 'connect' })
  const missingFile = Object.assign(new Error('no such file'), { code: 'ENOENT', syscall: 'open' })
  const fileError = Object.assign(new Error('permission denied'), { code: 'EACCES', syscall: 'open' })
  const lostConnection = new Error('Connection terminated unexpectedly')
  for (const error of [refused, missingSocket, lostConnection, new AggregateError([refused, lostConnection])])
    assert.equal(isDatabaseUnavailable(error), true, error.message)
  for (const error of [
    fileError,
    missingFile,
    new AggregateError([refused, fileError]),
    new AggregateError([]),
    'text',
  ])
    assert.equal(isDatabaseUnavailable(error), false, String(error))
})

test('an operation had no effect if it was refused, rolled back or never sent, and may have had one if a commit was lost', () => {
  const socketError = (syscall: string) => Object.assign(new Error(`${syscall} failed`), { syscall })
  const lost = new Error('Connection terminated unexpectedly')
  for (const error of [
    databaseError('23505'),
    socketError('connect'),
    socketError('getaddrinfo'),
    new AggregateError([socketError('connect'), socketError('connect')]),
  ])
    assert.equal(isWithoutEffect(error), true, String(error))
  for (const error of [lost, socketError('read'), new AggregateError([socketError('connect'), lost]), 'text', null])
    assert.equal(isWithoutEffect(error), false, String(error))

  const rolledBack = new Error('Connection terminated unexpectedly')
  markOutcome(rolledBack, false)
  assert.equal(isWithoutEffect(rolledBack), true)
  const lostCommit = databaseError('57P01')
  markOutcome(lostCommit, true)
  assert.equal(isWithoutEffect(lostCommit), false)
})

test('waiting for the database ends with an error that is no outage, and after the timeout', async () => {
  const poolWithError = (error: Error) => ({ pool: { query: () => Promise.reject(error) } }) as never
  const wrongPassword = databaseError('28P01')
  await assert.rejects(waitForDatabase(poolWithError(wrongPassword), 60_000, assert.fail), wrongPassword)
  const shutdown = databaseError('57P01')
  await assert.rejects(waitForDatabase(poolWithError(shutdown), -1, assert.fail), shutdown)
})
