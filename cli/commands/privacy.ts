import { Command, Option } from 'commander'
import type { Mode } from '../../server/access/keys.ts'
import { getOrganisation } from '../../server/access/organisations.ts'
import { problem } from '../../server/api/problem.ts'
import { type ContactBasis, contactBases } from '../../server/notices/contact-basis.ts'
import {
  changePrivacySettings,
  getPrivacySettings,
  MAX_LINK_DAYS,
  minorsPolicies,
  type PrivacySettings,
  type PrivacySettingsChange,
  setOrganisationHold,
} from '../../server/notices/settings.ts'
import { setPersonHold } from '../../server/privacy/person-hold.ts'
import { examples } from '../examples.ts'
import { parseMode, parseName, wholeNumberParser } from '../options.ts'
import { fieldList, print } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'
import { breachListCommand } from './privacy-breach-list.ts'
import { applyErasuresCommand, erasuresCommand } from './privacy-erasures.ts'
import { retentionCommand } from './privacy-retention.ts'

/** Options that each set one field. An empty value removes the field. */
const FIELD_OPTIONS = {
  grievanceName: 'grievance_name',
  grievanceEmail: 'grievance_email',
  grievancePhone: 'grievance_phone',
  privacyEmail: 'privacy_email',
  postalAddress: 'postal_address',
  contactBasisSource: 'contact_basis_source',
  contactBasisTextVersion: 'contact_basis_text_version',
} as const

type SettingsOptions = { [Name in keyof typeof FIELD_OPTIONS]?: string } & {
  minors?: PrivacySettings['minors']
  linkDays?: number
  contactBasis?: ContactBasis | 'none'
}

export function privacyCommand(): Command {
  const privacy = new Command('privacy')
    .description(
      'Manage privacy contacts, retention periods, legal holds, erasures and the list of people affected by a breach',
    )
    .addHelpText(...examples('privacy settings ORG_…', 'privacy retention preview --org ORG_… --mode live'))

  privacy
    .command('settings')
    .description('Show the privacy settings of an organisation, or change them')
    .argument('<org>', 'organisation ID, ORG_…')
    .option('--grievance-name <name>', 'person or team for complaints; empty to remove')
    .option('--grievance-email <address>', 'email address for complaints; empty to remove')
    .option('--grievance-phone <number>', 'phone number for complaints; empty to remove')
    .option('--privacy-email <address>', 'email address for questions about personal data; empty to remove')
    .option('--postal-address <text>', 'postal address; empty to remove')
    .addOption(new Option('--minors <policy>', 'rule for students below 18').choices([...minorsPolicies]))
    .option(
      '--link-days <n>',
      "number of days for which candidates' links still work after the campaign is completed",
      wholeNumberParser(0, MAX_LINK_DAYS),
    )
    .addOption(
      new Option('--contact-basis <basis>', 'why candidates may be contacted in LIVE mode; none to remove').choices([
        ...contactBases,
        'none',
      ]),
    )
    .option('--contact-basis-source <text>', 'where people agreed or applied, such as the name of a form')
    .option('--contact-basis-text-version <version>', 'version of the text that people agreed to; empty to remove')
    .addHelpText(
      ...examples(
        'privacy settings ORG_… --contact-basis application --contact-basis-source "form on example.com"',
        'privacy settings ORG_… --grievance-email grievance@example.com --minors guardian_consent',
      ),
    )
    .action(async (orgId: string, options: SettingsOptions, command: Command) => {
      const change = readChange(options)
      const settings = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          await getOrganisation(tx, orgId)
          if (Object.keys(change).length === 0) return getPrivacySettings(tx, orgId)
          const changed = await changePrivacySettings(tx, clock, orgId, change)
          const details = { fields: Object.keys(change) }
          await recordCliChange(tx, clock, { orgId, action: 'privacy.settings', subject: orgId, details })
          return changed
        }),
      )
      print(command, { org_id: orgId, ...settings }, () => describeSettings(orgId, settings))
    })

  privacy
    .command('hold')
    .description(
      'Start or end the legal hold of an organisation or a person; during a hold, retention periods erase nothing',
    )
    .argument('<id>', 'organisation ID (ORG_…) or person ID (PER_…)')
    .option('--reason <text>', 'why the data must be kept; starts the hold', parseName)
    .option('--end', 'end the hold')
    .option('--org <org>', 'ID of the organisation; required for a person')
    .option('--mode <mode>', 'mode of the person: test or live', parseMode, 'live')
    .addHelpText(
      ...examples('privacy hold ORG_… --reason "Lawsuit 12/2026"', 'privacy hold PER_… --org ORG_… --mode live --end'),
    )
    .action(async (id: string, options: HoldOptions, command: Command) => {
      if ((options.reason === undefined) === (options.end === undefined))
        throw problem('VALIDATION_FAILED', 'Use either --reason TEXT, to start the hold, or --end.')
      const reason = options.reason ?? null
      const isPerson = id.startsWith('PER_')
      if (isPerson && options.org === undefined) throw problem('VALIDATION_FAILED', 'A person requires --org ORG_….')
      await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const scope = { orgId: options.org ?? id, mode: options.mode }
          if (isPerson) await setPersonHold(tx, clock, scope, id, reason)
          else await setOrganisationHold(tx, clock, id, reason)
          await recordCliChange(tx, clock, {
            orgId: scope.orgId,
            ...(isPerson ? { mode: options.mode } : {}),
            action: isPerson ? 'person.hold' : 'privacy.hold',
            subject: id,
            details: { reason },
          })
        }),
      )
      print(command, { id, legal_hold: reason }, () =>
        reason === null ? `Ended the legal hold of ${id}.` : `Started the legal hold of ${id}.`,
      )
    })

  privacy.addCommand(retentionCommand())
  privacy.addCommand(breachListCommand())
  privacy.addCommand(erasuresCommand())
  privacy.addCommand(applyErasuresCommand())
  return privacy
}

interface HoldOptions {
  reason?: string
  end?: boolean
  org?: string
  mode: Mode
}

function readChange({ minors, linkDays, contactBasis, ...fields }: SettingsOptions): PrivacySettingsChange {
  const change: PrivacySettingsChange = {}
  for (const [option, field] of Object.entries(FIELD_OPTIONS)) {
    const value = fields[option as keyof typeof FIELD_OPTIONS]
    if (value !== undefined) change[field] = value.trim() === '' ? null : value
  }
  return {
    ...change,
    ...(minors ? { minors } : {}),
    ...(linkDays === undefined ? {} : { link_days: linkDays }),
    ...(contactBasis === undefined ? {} : { contact_basis: contactBasis === 'none' ? null : contactBasis }),
  }
}

function describeSettings(orgId: string, settings: PrivacySettings): string {
  const { grievance_name, grievance_email, grievance_phone } = settings
  return fieldList([
    ['Organisation', orgId],
    ['Complaints', [grievance_name, grievance_email, grievance_phone].filter(Boolean).join(', ') || 'not set'],
    ['Questions about data', settings.privacy_email ?? 'not set'],
    ['Postal address', settings.postal_address ?? 'not set'],
    ['Students below 18', settings.minors === 'off' ? 'no rule' : 'need the consent of a guardian'],
    ["Candidates' links work for", `${settings.link_days} days after the campaign`],
    [
      'Contact basis',
      settings.contact_basis === null
        ? 'not declared; LIVE candidates need their own consent'
        : [settings.contact_basis, settings.contact_basis_source, settings.contact_basis_text_version]
            .filter(Boolean)
            .join(', '),
    ],
    ['Legal hold', settings.legal_hold_reason ?? 'none'],
  ])
}
