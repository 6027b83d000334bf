import { Command, InvalidArgumentError, Option } from 'commander'
import { skillId, skillNumber, subSkillNumber } from '../../server/catalogue/ids.ts'
import { describeMergeEffects } from '../../server/catalogue/skill-browser.ts'
import { mergeSkill, undoMerge } from '../../server/catalogue/skill-merges.ts'
import {
  approveRequest,
  approveRequestAs,
  listRequestsOfAllOrganisations,
  MAX_REASON_LENGTH,
  type RequestStatus,
  rejectRequest,
  requestStatuses,
  type SkillRequest,
} from '../../server/catalogue/skill-requests.ts'
import { findSkillsByAlias } from '../../server/catalogue/store.ts'
import { examples } from '../examples.ts'
import { print, table } from '../print.ts'
import { withStore } from '../store.ts'
import { recordCliChange } from './audit.ts'
import { importCommand } from './skills-import.ts'
import { importsCommand, undoImportCommand } from './skills-imports.ts'

interface ApproveOptions {
  subSkill?: number
  sameAs?: number
  verifiable?: boolean
  description?: string
}

export function skillsCommand(): Command {
  const skills = new Command('skills')
    .description(
      'Manage the skill catalogue: import taxonomies and undo imports, merge skills, and decide on skill requests from partners',
    )
    .addHelpText(...examples('skills import --format esco ./esco', 'skills requests'))
  skills.addCommand(importCommand())
  skills.addCommand(importsCommand())
  skills.addCommand(undoImportCommand())

  skills
    .command('requests')
    .description('List skill requests from partners, oldest first')
    .addOption(
      new Option('--status <status>', 'only requests with this status')
        .choices([...requestStatuses, 'all'])
        .default('pending'),
    )
    .addHelpText(...examples('skills requests --status all'))
    .action(async ({ status }: { status: RequestStatus | 'all' }, command: Command) => {
      const { requests, aliasedSkills } = await withStore(async ({ db }) => {
        const requests = await listRequestsOfAllOrganisations(db.queries, status === 'all' ? undefined : status)
        const pendingNames = requests.filter((row) => row.status === 'pending').map(({ name }) => name)
        return { requests, aliasedSkills: await findSkillsByAlias(db.queries, pendingNames) }
      })
      print(command, requests.map(requestRecord), () =>
        table(
          ['REQUEST', 'NAME', 'STATUS', 'SKILL', 'ORGANISATION', 'MODE', 'CREATED', 'CONTEXT'],
          requests.map((row) => [
            row.request_id,
            row.name,
            row.status,
            requestRecord(row).skill_id ?? formatAliasHint(aliasedSkills.get(row.name)),
            row.org_id,
            row.mode,
            row.created_at,
            row.context?.replace(/\s+/g, ' '),
          ]),
          status === 'pending' ? 'No pending skill requests.' : 'No skill requests found.',
        ),
      )
    })

  skills
    .command('approve')
    .description(
      'Add the requested skill to the catalogue, and approve all requests for its name (takes effect immediately)',
    )
    .argument('<request>', 'skill request ID, SR_…')
    .option('--sub-skill <sub-skill>', 'sub-skill to add the skill to, ss_…', parseSubSkill)
    .option('--same-as <skill>', 'existing skill that the request means, sk_…, instead of adding a skill', parseSkill)
    .option('--verifiable', 'rank the skill higher in searches, as skills that employers often ask for')
    .option('--description <text>', 'description of the skill in one sentence')
    .addHelpText(
      ...examples('skills approve SR_… --sub-skill ss_201 --verifiable', 'skills approve SR_… --same-as sk_1001'),
    )
    .action(async (id: string, { subSkill, sameAs, ...skillProperties }: ApproveOptions, command: Command) => {
      if ((subSkill === undefined) === (sameAs === undefined))
        command.error('error: pass either --sub-skill, to add a skill, or --same-as, for an existing one')
      if (sameAs !== undefined && Object.keys(skillProperties).length > 0)
        command.error('error: --verifiable and --description describe a new skill; they cannot be used with --same-as')
      const { skill, requests, aliasedSkill } = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const approved =
            sameAs === undefined
              ? await approveRequest(tx, clock, id, { subNumber: subSkill!, ...skillProperties })
              : await approveRequestAs(tx, clock, id, sameAs)
          const { number, name } = approved.skill
          const details = {
            skill_id: skillId(number),
            name,
            ...(sameAs === undefined ? {} : { same_as: skillId(number) }),
          }
          await recordCliChange(tx, clock, { action: 'skill_request.approve', subject: id, details })
          const aliasedSkill = sameAs === undefined ? (await findSkillsByAlias(tx, [name])).get(name) : undefined
          return { ...approved, aliasedSkill }
        }),
      )
      const record = {
        request_id: id,
        status: 'approved',
        skill_id: skillId(skill.number),
        name: skill.name,
        resolved: requests.map(({ request_id }) => request_id),
      }
      const otherRequestCount = requests.length - 1
      print(
        command,
        record,
        () =>
          `Approved: ${sameAs === undefined ? `"${record.name}" is now in the catalogue as ${record.skill_id}` : `the request means ${record.name} (${record.skill_id})`}.${otherRequestCount > 0 ? ` Also approved ${otherRequestCount} other ${otherRequestCount === 1 ? 'request' : 'requests'} for this name.` : ''}${aliasedSkill ? ` This name is also an alias of ${aliasedSkill.name} (${skillId(aliasedSkill.number)}); searches find both skills.` : ''}`,
      )
    })

  skills
    .command('reject')
    .description('Reject a skill request')
    .argument('<request>', 'skill request ID, SR_…')
    .option('--reason <text>', 'reason, which the partner sees')
    .addHelpText(...examples('skills reject SR_… --reason "Use Bricklaying instead"'))
    .action(async (id: string, { reason }: { reason?: string }, command: Command) => {
      if (reason !== undefined && reason.length > MAX_REASON_LENGTH)
        command.error(`error: --reason must have at most ${MAX_REASON_LENGTH} characters`)
      const rejectedRequest = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const request = await rejectRequest(tx, clock, id, reason)
          await recordCliChange(tx, clock, {
            action: 'skill_request.reject',
            subject: id,
            details: { name: request.name, ...(request.rejection_reason ? { reason: request.rejection_reason } : {}) },
          })
          return request
        }),
      )
      print(command, requestRecord(rejectedRequest), () => `Rejected ${id} (${rejectedRequest.name}).`)
    })

  skills
    .command('merge')
    .description('Merge a skill into another one, whose ID and name survive (takes effect immediately)')
    .argument('<skill>', 'skill to merge, sk_…', parseSkill)
    .requiredOption('--into <skill>', 'skill that survives, sk_…', parseSkill)
    .option('--dry-run', 'show the effects without merging')
    .addHelpText(...examples('skills merge sk_1002 --into sk_1001 --dry-run', 'skills merge sk_1002 --into sk_1001'))
    .action(async (number: number, { into, dryRun }: { into: number; dryRun?: boolean }, command: Command) => {
      const effects = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const effects = await describeMergeEffects(tx, skillId(number), skillId(into))
          if (dryRun) return effects
          const names = await mergeSkill(tx, clock, number, into)
          await recordCliChange(tx, clock, {
            action: 'skill.merge',
            subject: skillId(number),
            details: { into: skillId(into), ...names },
          })
          return effects
        }),
      )
      print(command, { merged: !dryRun, ...effects }, () => formatMerge(effects, dryRun ?? false))
    })

  skills
    .command('undo-merge')
    .description('Make a merged skill a skill of its own again (takes effect immediately)')
    .argument('<skill>', 'merged skill, sk_…', parseSkill)
    .addHelpText(...examples('skills undo-merge sk_1002'))
    .action(async (number: number, _options: unknown, command: Command) => {
      const id = skillId(number)
      const details = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const details = await undoMerge(tx, clock, number)
          await recordCliChange(tx, clock, { action: 'skill.undo_merge', subject: id, details })
          return details
        }),
      )
      print(
        command,
        { skill_id: id, ...details },
        () => `${details.name} (${id}) is a skill of its own again. It was merged into ${details.into_name}.`,
      )
    })

  return skills
}

function formatMerge(effects: Awaited<ReturnType<typeof describeMergeEffects>>, isDryRun: boolean): string {
  const { skill, into, new_aliases: aliases, earlier_merged_skill_ids: earlier } = effects
  const questions = `${effects.own_questions}${effects.built_in_questions ? ', and those of the built-in bank' : ''}`
  return [
    `${isDryRun ? 'Would merge' : 'Merged'} ${skill.name} (${skill.skill_id}) into ${into.name} (${into.skill_id}).`,
    `  IDs that mean ${into.skill_id}:   ${[skill.skill_id, ...earlier].join(', ')}`,
    `  New aliases:               ${aliases.length > 0 ? aliases.join(', ') : 'none'}`,
    `  Questions of organisations: ${questions}`,
    `  Records that keep their ID: ${effects.mandates} mandates, ${effects.sessions} verifications, ${effects.selected_skills} selections`,
    isDryRun ? 'Nothing was changed.' : `Undo it with: attestry skills undo-merge ${skill.skill_id}`,
  ].join('\n')
}

/** Returns a hint if the requested name is an alias of an existing skill. */
function formatAliasHint(skill: { number: number; name: string } | undefined): string | undefined {
  return skill && `same as ${skillId(skill.number)} ${skill.name}?`
}

function requestRecord(request: SkillRequest) {
  const { request_id, name, context, status, skill_number, rejection_reason, org_id, mode, created_at } = request
  const skill_id = skill_number === null ? null : skillId(skill_number)
  return { request_id, name, context, status, skill_id, rejection_reason, org_id, mode, created_at }
}

function parseSkill(text: string): number {
  const number = skillNumber(text)
  if (number === undefined) throw new InvalidArgumentError('Expected a skill ID such as sk_1001.')
  return number
}

function parseSubSkill(text: string): number {
  const number = subSkillNumber(text)
  if (number === undefined)
    throw new InvalidArgumentError('Expected a sub-skill ID such as ss_201; GET /api/skills/sub-skills lists them.')
  return number
}
