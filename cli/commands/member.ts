import { Command, InvalidArgumentError, Option } from 'commander'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import {
  addMember,
  changeRole,
  findMemberByAddress,
  listMembers,
  memberRecord,
  removeMember,
} from '../../server/console/auth/members.ts'
import { type MemberRole, memberRoles } from '../../server/console/auth/roles.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { noteCommand } from './audit.ts'

interface MemberOptions {
  org: string
  email: string
  role: MemberRole
}

const MOST_LISTED = 1000

export function memberCommand(): Command {
  const member = new Command('member')
    .description('people who may sign in to the console, for an organisation')
    .addHelpText(...examples('member add --org ORG_… --email asha@example.com --role owner'))

  member
    .command('add')
    .description('let somebody in, or give them another role; they sign in at /console with their mail address')
    .requiredOption('--org <org>', 'the organisation, ORG_…')
    .requiredOption('--email <mail>', 'their mail address', mailAddress)
    .addOption(new Option('--role <role>', 'what they may do').choices([...memberRoles]).makeOptionMandatory())
    .addHelpText(...examples('member add --org ORG_… --email asha@example.com --role owner'))
    .action(async ({ org, email, role }: MemberOptions, command: Command) => {
      const made = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const known = await findMemberByAddress(tx, org, email)
          const added = known
            ? await changeRole(tx, org, known.member_id, role)
            : await addMember(tx, clock, org, { email, role })
          const action = known ? 'member.change' : 'member.add'
          await noteCommand(tx, clock, { orgId: org, action, subject: added.member_id, details: { email, role } })
          return added
        }),
      )
      print(command, memberRecord(made), () => `${made.email} is ${made.role} of ${org}.`)
    })

  member
    .command('list')
    .description('the people of an organisation, newest first')
    .requiredOption('--org <org>', 'the organisation, ORG_…')
    .addHelpText(...examples('member list --org ORG_…'))
    .action(async ({ org }: MemberOptions, command: Command) => {
      const found = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, org)
        return listMembers(db.queries, org, { limit: MOST_LISTED })
      })
      print(command, found.map(memberRecord), () =>
        table(
          ['MEMBER', 'EMAIL', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
          found.map((row) => [row.member_id, row.email, row.role, row.created_at, row.last_sign_in_at]),
          `Nobody yet. Let somebody in: npx attestry member add --org ${org} --email MAIL --role owner`,
        ),
      )
    })

  member
    .command('remove')
    .description('let somebody in no longer; in force at once, wherever they are signed in')
    .requiredOption('--org <org>', 'the organisation, ORG_…')
    .requiredOption('--email <mail>', 'their mail address', mailAddress)
    .addHelpText(...examples('member remove --org ORG_… --email asha@example.com'))
    .action(async ({ org, email }: MemberOptions, command: Command) => {
      const removed = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const known = await findMemberByAddress(tx, org, email)
          if (!known) throw problem('NOT_FOUND', `${email} does not belong to ${org}.`)
          const done = await removeMember(tx, org, known.member_id)
          await noteCommand(tx, clock, {
            orgId: org,
            action: 'member.remove',
            subject: done.member_id,
            details: { email },
          })
          return done
        }),
      )
      print(command, memberRecord(removed), () => `${removed.email} does not belong to ${org} any more.`)
    })

  return member
}

function mailAddress(text: string): string {
  if (text.length > 254 || !/^[^\s@<>"(),:;]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text))
    throw new InvalidArgumentError('Expected a mail address.')
  return text
}
