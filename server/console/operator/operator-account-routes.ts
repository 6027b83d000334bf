import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { listOf, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { addOperator, listOperators, operatorRecord, removeOperator } from '../auth/operators.ts'
import { OperatorRecord } from '../auth/schema.ts'
import { inviterOf, sendOperatorInvitation } from '../auth/sign-in-emails.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'

const OperatorParams = Type.Object({ operator_id: Type.String({ pattern: '^OP_[A-Z0-9]{10,40}$' }) })

/** Routes for the accounts of operators. */
export function operatorAccountRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const config = { role: 'operator' } as const
  const changeConfig = { ...config, recentSignIn: true } as const

  app.get(
    '/operator/operators',
    { config, schema: { response: { 200: success(listOf(OperatorRecord)) } } },
    async () => {
      const items = (await listOperators(db.queries)).map(operatorRecord)
      return successResponse('Operators', { items, next_cursor: null })
    },
  )

  app.post(
    '/operator/operators',
    {
      config: changeConfig,
      schema: {
        body: Type.Object({ email: EmailAddress }, closed),
        response: { 201: success(OperatorRecord) },
      },
    },
    async (request, reply) => {
      const { email } = request.body
      const operator = await db.transaction(async (tx) => {
        const addedOperator = await addOperator(tx, clock, email)
        await sendOperatorInvitation(tx, context, email, inviterOf(request))
        await recordRequestAudit(tx, context, request, 'operator.add', addedOperator.operator_id, { email })
        return addedOperator
      })
      reply.status(201)
      return successResponse('Operator added', operatorRecord(operator))
    },
  )

  app.delete(
    '/operator/operators/:operator_id',
    { config: changeConfig, schema: { params: OperatorParams, response: { 200: success(OperatorRecord) } } },
    async (request) => {
      const operator = await db.transaction(async (tx) => {
        const removedOperator = await removeOperator(tx, clock, request.params.operator_id)
        const { operator_id, email } = removedOperator
        await recordRequestAudit(tx, context, request, 'operator.remove', operator_id, { email })
        return removedOperator
      })
      return successResponse('Operator removed', operatorRecord(operator))
    },
  )
}
