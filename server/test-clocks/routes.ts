import { runIdempotent } from '../access/idempotency.ts'
import type { Context } from '../context.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, PageQuery, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { AdvanceInput, TestClockInput, TestClockParams, TestClockRecord } from './schema.ts'
import {
  advanceTestClock,
  archiveTestClock,
  createTestClock,
  getTestClock,
  listTestClocks,
  type TestClock,
  testClockRecord,
} from './test-clocks.ts'

/** Routes for test clocks, which exist in TEST mode only. */
export function testClockRoutes(app: App, context: Context): void {
  const { db, clock, vault } = context
  const readAccess = { scope: 'campaigns:read', limit: 'reads' } as const
  const writeAccess = { scope: 'campaigns:write', limit: 'mandateWrites', idempotent: 'optional' } as const
  const tags = ['Test clocks']

  app.post(
    '/test-clocks',
    {
      config: writeAccess,
      schema: {
        operationId: 'createTestClock',
        tags,
        summary: 'Create a test clock',
        description:
          'TEST keys only. Attach campaigns with `test_clock_id` and verification sessions with `testClockId` when you create them. The clock stands still until you advance it.',
        body: TestClockInput,
        response: { 201: success(TestClockRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const created = await createTestClock(tx, caller, clock, request.body)
        return { status: 201, body: testClockResponse('Test clock created', created) }
      })
    },
  )

  app.get(
    '/test-clocks',
    {
      config: readAccess,
      schema: {
        operationId: 'listTestClocks',
        tags,
        summary: 'List test clocks',
        description: 'TEST keys only. Lists the newest test clocks first, including archived ones.',
        querystring: PageQuery,
        response: { 200: success(listOf(TestClockRecord)) },
      },
    },
    async ({ caller, query: { limit, cursor } }) => {
      const lastId = readCursor<string>(vault, 'test clocks', cursor)
      const clocks = await listTestClocks(db.queries, caller, { before: lastId, limit: limit + 1 })
      const page = clocks.slice(0, limit)
      const next_cursor = clocks.length > limit ? writeCursor(vault, 'test clocks', page.at(-1)!.test_clock_id) : null
      return {
        success: true as const,
        message: 'Test clocks',
        data: { items: page.map(testClockRecord), next_cursor },
      }
    },
  )

  app.get(
    '/test-clocks/:test_clock_id',
    {
      config: readAccess,
      schema: {
        operationId: 'getTestClock',
        tags,
        summary: 'Get a test clock',
        description: 'TEST keys only.',
        params: TestClockParams,
        response: { 200: success(TestClockRecord) },
      },
    },
    async ({ caller, params }) =>
      testClockResponse('Test clock', await getTestClock(db.queries, caller, params.test_clock_id)),
  )

  app.post(
    '/test-clocks/:test_clock_id/advance',
    {
      config: writeAccess,
      schema: {
        operationId: 'advanceTestClock',
        tags,
        summary: 'Advance a test clock',
        description:
          'TEST keys only. Everything that becomes due until the new time happens in order, each at its time: contacts, replies of test numbers, follow-ups, reminders and expiries, with their events. The response has the status `advancing`; get the test clock until its status is `ready`.',
        params: TestClockParams,
        body: AdvanceInput,
        response: { 202: success(TestClockRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const advancing = await advanceTestClock(tx, caller, clock, request.params.test_clock_id, request.body)
        return { status: 202, body: testClockResponse('Test clock is advancing', advancing) }
      })
    },
  )

  app.delete(
    '/test-clocks/:test_clock_id',
    {
      config: writeAccess,
      schema: {
        operationId: 'archiveTestClock',
        tags,
        summary: 'Archive a test clock',
        description:
          'TEST keys only. The time of the clock no longer changes, and nothing happens to its campaigns and sessions any more. An advance that is in progress stops.',
        params: TestClockParams,
        response: { 200: success(TestClockRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const archived = await archiveTestClock(tx, caller, clock, request.params.test_clock_id)
        return { status: 200, body: testClockResponse('Test clock archived', archived) }
      })
    },
  )
}

function testClockResponse(message: string, clock: TestClock) {
  return { success: true as const, message, data: testClockRecord(clock) }
}
