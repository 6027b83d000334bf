import { Command } from 'commander'
import { problem } from '../../server/api/problem.ts'
import {
  addOperator,
  findOperator,
  listOperators,
  operatorRecord,
  removeOperator,
} from '../../server/console/auth/operators.ts'
import type { Queries } from '../../server/platform/database/database.ts'
import { examples } from '../examples.ts'
import { parseEmail } from '../options.ts'
import { print, table } from '../print.ts'
import { createPrintedLink, printLink } from '../sign-in-link.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

export function operatorCommand(): Command {
  const operator = new Command('operator')
    .description('Manage the operators, who run this server and can sign in to the console')
    .addHelpText(...examples('operator add asha@example.com', 'operator link asha@example.com'))

  operator
    .command('add')
    .description('Add an operator (they sign in at /console with their email address)')
    .argument('<email>', "the operator's email address", parseEmail)
    .addHelpText(...examples('operator add asha@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      const addedOperator = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const newOperator = await addOperator(tx, clock, email)
          await recordCliChange(tx, clock, {
            action: 'operator.add',
            subject: newOperator.operator_id,
            details: { email },
          })
          return newOperator
        }),
      )
      print(command, operatorRecord(addedOperator), () => `${email} is now an operator.`)
    })

  operator
    .command('list')
    .description('List the operators, including removed ones')
    .addHelpText(...examples('operator list'))
    .action(async (_options: object, command: Command) => {
      const operators = await withStore(({ db }) => listOperators(db.queries))
      print(command, operators.map(operatorRecord), () =>
        table(
          ['OPERATOR', 'EMAIL', 'CREATED', 'LAST SIGN-IN', 'REMOVED'],
          operators.map((row) => [row.operator_id, row.email, row.created_at, row.last_sign_in_at, row.disabled_at]),
          'No operators yet. Add one: npx attestry operator add EMAIL',
        ),
      )
    })

  operator
    .command('remove')
    .description('Remove an operator and end their access immediately')
    .argument('<email>', "the operator's email address", parseEmail)
    .addHelpText(...examples('operator remove asha@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      const removedOperator = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const { operator_id } = await getOperator(tx, email)
          const formerOperator = await removeOperator(tx, clock, operator_id)
          await recordCliChange(tx, clock, { action: 'operator.remove', subject: operator_id, details: { email } })
          return formerOperator
        }),
      )
      print(command, operatorRecord(removedOperator), () => `${email} is no longer an operator.`)
    })

  operator
    .command('link')
    .description('Print a one-time sign-in link for an operator, for use when email does not work')
    .argument('<email>', "the operator's email address", parseEmail)
    .addHelpText(...examples('operator link asha@example.com'))
    .action(async (email: string, _options: object, command: Command) => {
      const link = await withStore(({ db, clock, config }) =>
        db.transaction(async (tx) => {
          const { operator_id, email: storedEmail } = await getOperator(tx, email)
          await recordCliChange(tx, clock, { action: 'operator.link', subject: operator_id, details: { email } })
          return createPrintedLink(tx, clock, config, storedEmail)
        }),
      )
      printLink(command, link)
    })

  return operator
}

async function getOperator(queries: Queries, email: string) {
  const operator = await findOperator(queries, email)
  if (!operator)
    throw problem('NOT_FOUND', `${email} is not an operator. To add one, run: npx attestry operator add ${email}`)
  return operator
}
