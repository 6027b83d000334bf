import { Command, InvalidArgumentError, Option } from 'commander'
import { skillId, subSkillNumber } from '../../server/catalogue/ids.ts'
import {
  approveRequest,
  listAllRequests,
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

interface ApproveOptions {
  subSkill: number
  verifiable?: boolean
  description?: string
}

export function skillsCommand(): Command {
  const skills = new Command('skills')
    .description('Manage the skill catalogue: import taxonomies, and decide on skill requests from partners')
    .addHelpText(...examples('skills import --format esco ./esco', 'skills requests'))
  skills.addCommand(importCommand())

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
      const { found, others } = await withStore(async ({ db }) => {
        const found = await listAllRequests(db.queries, status === 'all' ? undefined : status)
        const pending = found.filter((row) => row.status === 'pending').map(({ name }) => name)
        return { found, others: await findSkillsByAlias(db.queries, pending) }
      })
      print(command, found.map(requestRecord), () =>
        table(
          ['REQUEST', 'NAME', 'STATUS', 'SKILL', 'ORGANISATION', 'MODE', 'CREATED', 'CONTEXT'],
          found.map((row) => [
            row.request_id,
            row.name,
            row.status,
            requestRecord(row).skill_id ?? similarSkill(others.get(row.name)),
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
    .description('Approve a request and all requests for the same name: add the skill (takes effect immediately)')
    .argument('<request>', 'skill request ID, SR_…')
    .requiredOption('--sub-skill <sub-skill>', 'sub-skill to add it to, ss_…', parseSubSkill)
    .option('--verifiable', 'the skill can be verified with questions')
    .option('--description <text>', 'description of the skill in one sentence')
    .addHelpText(...examples('skills approve SR_… --sub-skill ss_201 --verifiable'))
    .action(async (id: string, { subSkill, ...rest }: ApproveOptions, command: Command) => {
      const { skill, requests, other } = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const approved = await approveRequest(tx, clock, id, { subNumber: subSkill, ...rest })
          const { number, name } = approved.skill
          const details = { skill_id: skillId(number), name }
          await recordCliChange(tx, clock, { action: 'skill_request.approve', subject: id, details })
          const other = (await findSkillsByAlias(tx, [name])).get(name)
          return { ...approved, other }
        }),
      )
      const value = {
        request_id: id,
        status: 'approved',
        skill_id: skillId(skill.number),
        name: skill.name,
        resolved: requests.map(({ request_id }) => request_id),
      }
      const others = requests.length - 1
      print(
        command,
        value,
        () =>
          `Approved: added "${value.name}" as ${value.skill_id}.${others > 0 ? ` Also approved ${others} other ${others === 1 ? 'request' : 'requests'} for it.` : ''}${other ? ` This name is also an alias of ${other.name} (${skillId(other.number)}); searches find both.` : ''}`,
      )
    })

  skills
    .command('reject')
    .description('Reject a request')
    .argument('<request>', 'skill request ID, SR_…')
    .addHelpText(...examples('skills reject SR_…'))
    .action(async (id: string, _options: object, command: Command) => {
      const rejected = await withStore(({ db, clock }) =>
        db.transaction(async (tx) => {
          const request = await rejectRequest(tx, clock, id)
          await recordCliChange(tx, clock, {
            action: 'skill_request.reject',
            subject: id,
            details: { name: request.name },
          })
          return request
        }),
      )
      print(command, requestRecord(rejected), () => `Rejected ${id} (${rejected.name}).`)
    })

  return skills
}

/** Points out an existing skill that has the requested name as an alias. */
function similarSkill(skill: { number: number; name: string } | undefined): string | undefined {
  return skill && `same as ${skillId(skill.number)} ${skill.name}?`
}

function requestRecord({ request_id, name, context, status, skill_number, org_id, mode, created_at }: SkillRequest) {
  const skill_id = skill_number === null ? null : skillId(skill_number)
  return { request_id, name, context, status, skill_id, org_id, mode, created_at }
}

function parseSubSkill(text: string): number {
  const number = subSkillNumber(text)
  if (number === undefined)
    throw new InvalidArgumentError('Expected a sub-skill ID such as ss_201; GET /api/skills/sub-skills lists them.')
  return number
}
