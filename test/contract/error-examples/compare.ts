import assert from 'node:assert/strict'
import { errorExamples, type PublishedApi } from '../../../server/openapi/errors.ts'
import type { App } from '../../../server/platform/http/server.ts'
import type { TestApp } from '../../support/app.ts'

interface ErrorResponse {
  status: number
  body: unknown
}

/** Functions that provoke an error over HTTP, by its code. A code without a function does not compile. */
export type Provocations<Codes extends object> = Record<keyof Codes, () => Promise<ErrorResponse>>

const examplesByApi = {
  partner: errorExamples('partner'),
  verification: errorExamples('verification'),
  catalogue: errorExamples('catalogue'),
}

/** Throws unless the example of an error code equals the response of the server, apart from IDs and numbers. */
export async function assertExample(
  api: PublishedApi,
  code: string,
  expectedStatus: number,
  provoke: () => Promise<ErrorResponse>,
): Promise<void> {
  const { status, body } = await provoke()
  assert.equal(status, expectedStatus, JSON.stringify(body))
  assert.deepEqual(withoutVariables(body), withoutVariables(examplesByApi[api][code]!.value))
}

/** Replaces the values that differ in every response: request IDs, addresses of servers, IDs of records, and numbers. */
function withoutVariables(body: unknown): unknown {
  const json = JSON.stringify(body)
    .replace(/req_\w+/g, 'req_0')
    .replace(/https?:\/\/[^/"]+\/docs/g, 'https://server/docs')
    .replace(/\b((?:[A-Z]{2,3}_)+)[0-9A-Z]{26}\b/g, '$10')
    .replace(/\d+/g, '0')
  return JSON.parse(json)
}

/** Adds a route that fails, below the path of an API. */
export function addBrokenRoute(path: string) {
  return (app: App) => {
    app.get(path, async () => {
      throw new Error('the database password is hunter2')
    })
  }
}

/** Makes the connections of a server read-only, as after a failover to a standby. */
export async function makeDatabaseReadOnly({ context }: TestApp): Promise<void> {
  const { pool } = context.db
  const clients = await Promise.all(Array.from({ length: Math.max(pool.totalCount, 1) }, () => pool.connect()))
  for (const client of clients) await client.query('set default_transaction_read_only = on')
  for (const client of clients) client.release()
}
