import { Command, Option } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { credentialRecord, organisationRevocationReasons } from '../../server/credentials/credentials.ts'
import { revokeCredential, revokeCredentialsOfHolder } from '../../server/credentials/revocation.ts'
import { examples } from '../examples.ts'
import { parseEmail, parseMode } from '../options.ts'
import { print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'

interface RevokeOptions {
  org: string
  mode: Mode
  reason: (typeof organisationRevocationReasons)[number]
}

export function revokeCredentialCommand(): Command {
  return new Command('revoke')
    .description('Revoke a credential; verifiers see it at once, and it cannot be undone')
    .argument('<credential>', 'credential ID, crd_…')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live', parseMode, 'live')
    .addOption(
      new Option('--reason <reason>', 'why it is revoked').choices([...organisationRevocationReasons]).default('other'),
    )
    .addHelpText(...examples('credential revoke crd_… --org ORG_… --reason issued_in_error'))
    .action(async (id: string, { org, mode, reason }: RevokeOptions, command: Command) => {
      const record = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const row = await revokeCredential(tx, { clock }, { orgId: org, mode }, id, reason)
          const details = { reason: row.revocation_reason }
          await recordCliChange(tx, clock, { action: 'credential.revoke', orgId: org, mode, subject: id, details })
          return credentialRecord(row, clock.now())
        }),
      )
      print(command, record, () => `${id} is revoked (${record.revocation_reason}).`)
    })
}

interface EraseOptions {
  org: string
  mode: Mode
  email?: string
  phone?: string
}

export function eraseHolderCommand(): Command {
  return new Command('erase')
    .description('Revoke all credentials of a person, and delete their content and the links of the person')
    .requiredOption('--org <org>', 'organisation ID, ORG_…')
    .option('--mode <mode>', 'test or live', parseMode, 'live')
    .addOption(new Option('--email <email>', 'email address of the person').argParser(parseEmail).conflicts('phone'))
    .option('--phone <phone>', 'phone number of the person, such as +919812345678')
    .addHelpText(...examples('credential erase --org ORG_… --email asha@example.com'))
    .action(async ({ org, mode, email, phone }: EraseOptions, command: Command) => {
      if (email === undefined && phone === undefined) throw new Error('Pass --email or --phone.')
      const contact =
        email === undefined ? { kind: 'phone' as const, value: phone! } : { kind: 'email' as const, value: email }
      const erased = await withStore(({ db, clock, mailboxes }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, org)
          const rows = await revokeCredentialsOfHolder(tx, { clock, mailboxes }, { orgId: org, mode }, contact)
          const details = { credentials: rows.map(({ credential_id }) => credential_id) }
          await recordCliChange(tx, clock, { action: 'credential.erase', orgId: org, mode, details })
          return rows.map((row) => credentialRecord(row, clock.now()))
        }),
      )
      print(command, erased, () => `Revoked ${erased.length} credentials and deleted their content.`)
    })
}
