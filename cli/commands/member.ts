import { Command, Option } from 'commander'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { parseMemberName, renameMember } from '../../server/console/auth/member-names.ts'
import {
  addMember,
  changeMemberRole,
  findMemberByEmail,
  listMembers,
  memberRecord,
  removeMember,
} from '../../server/console/auth/members.ts'
import { type MemberRole, memberRoles } from '../../server/console/auth/roles.ts'
import type { Queries } from '../../server/platform/database/database.ts'
import { examples } from '../examples.ts'
import { parseEmail } from '../options.ts'
import { print, table } from '../print.ts'
import { createPrintedLink, printLink } from '../sign-in-link.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface MemberOptions {
  org: string
  email: string
  role: MemberRole
  name?: string
}

const MAX_LISTED_MEMBERS = 1000

export function memberCommand(): Command {
  const member = new Command('member')
    .description('Manage the members of an organisation, who can sign in to the console')
    .addHelpText(...examples('member add --org ORG_… --email asha@example.com --role owner'))

  member
    .command('add')
    .description('Add a member or change their role (they sign in at /console with their email address)')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--email <address>', "the member's email address", parseEmail)
    .addOption(new Option('--role <role>', 'permissions of the member').choices([...memberRoles]).makeOptionMandatory())
    .option('--name <name>', 'the name that colleagues see', parseMemberName)
    .addHelpText(...examples('member add --org ORG_… --email asha@example.com --role owner'))
    .action(async ({ org, email, role, name }: MemberOptions, command: Command) => {
      const member = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const existing = await findMemberByEmail(tx, org, email)
          const savedMember = existing
            ? await changeMemberRole(tx, org, existing.member_id, role)
            : await addMember(tx, clock, org, { email, name, role })
          if (existing && name !== undefined) await renameMember(tx, existing.member_id, name)
          const action = existing ? 'member.change' : 'member.add'
          await recordCliChange(tx, clock, {
            orgId: org,
            action,
            subject: savedMember.member_id,
            details: { email, role },
          })
          return { ...savedMember, name: name ?? savedMember.name }
        }),
      )
      print(command, memberRecord(member), () => `${member.email} now has the role ${member.role} in ${org}.`)
    })

  member
    .command('list')
    .description('List the members of an organisation, newest first')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .addHelpText(...examples('member list --org ORG_…'))
    .action(async ({ org }: MemberOptions, command: Command) => {
      const members = await withStore(async ({ db }) => {
        await getOrganisation(db.queries, org)
        return listMembers(db.queries, org, { limit: MAX_LISTED_MEMBERS })
      })
      print(command, members.map(memberRecord), () =>
        table(
          ['MEMBER', 'EMAIL', 'NAME', 'ROLE', 'CREATED', 'LAST SIGN-IN'],
          members.map((row) => [row.member_id, row.email, row.name, row.role, row.created_at, row.last_sign_in_at]),
          `No members yet. Add one: npx attestry member add --org ${org} --email ADDRESS --role owner`,
        ),
      )
    })

  member
    .command('remove')
    .description('Remove a member and end their sessions immediately')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--email <address>', "the member's email address", parseEmail)
    .addHelpText(...examples('member remove --org ORG_… --email asha@example.com'))
    .action(async ({ org, email }: MemberOptions, command: Command) => {
      const removedMember = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const { member_id } = await getMember(tx, org, email)
          const member = await removeMember(tx, org, member_id)
          await recordCliChange(tx, clock, {
            orgId: org,
            action: 'member.remove',
            subject: member.member_id,
            details: { email },
          })
          return member
        }),
      )
      print(command, memberRecord(removedMember), () => `Removed ${removedMember.email} from ${org}.`)
    })

  member
    .command('link')
    .description('Print a one-time sign-in link for a member, for use when email does not work')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .requiredOption('--email <address>', "the member's email address", parseEmail)
    .addHelpText(...examples('member link --org ORG_… --email asha@example.com'))
    .action(async ({ org, email }: MemberOptions, command: Command) => {
      const link = await withStore(({ db, clock, config }) =>
        db.transaction(async (tx) => {
          const { member_id, email: storedEmail } = await getMember(tx, org, email)
          await recordCliChange(tx, clock, {
            orgId: org,
            action: 'member.link',
            subject: member_id,
            details: { email },
          })
          return createPrintedLink(tx, clock, config, storedEmail)
        }),
      )
      printLink(command, link)
    })

  return member
}

async function getMember(queries: Queries, org: string, email: string) {
  const member = await findMemberByEmail(queries, org, email)
  if (!member)
    throw problem(
      'NOT_FOUND',
      `${email} is not a member of ${org}. To add one, run: npx attestry member add --org ${org} --email ${email} --role viewer`,
    )
  return member
}
