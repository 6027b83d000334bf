import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../test/support/app.ts'
import { addOperator } from './console/auth/operators.ts'
import { createOperatorLink } from './operator-link.ts'

test('at a terminal, every start links to the operator of the configuration, else to the oldest; elsewhere only the first', async (t) => {
  const { context, clock } = await startApp(t)
  const { db, config } = context
  const createLink = async (operatorEmail: string, isTerminal = true) => {
    const settings = { ...config, operatorEmail, publicUrl: 'https://verify.example.com' }
    return createOperatorLink({ ...context, config: settings }, isTerminal)
  }
  const first = await createLink('asha@example.com')
  assert.equal(first!.email, 'asha@example.com')
  assert.match(first!.url!, /^https:\/\/verify\.example\.com\/console\/sign-in#token=[\w-]+$/)
  for (const email of ['Bina@example.com', 'carl@example.com']) {
    clock.advance(1000)
    await db.transaction((tx) => addOperator(tx, clock, email))
  }
  assert.equal((await createLink('bina@example.com'))!.email, 'Bina@example.com')
  assert.equal((await createLink('unknown@example.com'))!.email, 'asha@example.com')
  assert.equal(await createLink('carl@example.com', false), undefined)
  const { rows } = await db.pool.query(`select action, actor from audit_log where action = 'operator.add'`)
  assert.deepEqual(rows, [{ action: 'operator.add', actor: 'server' }])
})
