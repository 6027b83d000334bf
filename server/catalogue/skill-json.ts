import { isAscii } from 'node:buffer'
import type { FastifyReply } from 'fastify'
import { masterSkillId, skillId, subSkillId } from './ids.ts'
import type { Skill } from './snapshot.ts'

/** The partner API's record of a skill. */
export function skillRecord({ number, name, description, aliases, sub, verifiable }: Skill) {
  return {
    skill_id: skillId(number),
    name,
    description,
    aliases,
    sub_skill: { sub_skill_id: subSkillId(sub.number), name: sub.name },
    master_skill: { master_skill_id: masterSkillId(sub.master.number), name: sub.master.name },
    verifiable,
  }
}

/** The public API's. */
export function publicSkill({ number, name, sub }: Skill) {
  return {
    skill_id: skillId(number),
    skill_name: name,
    sub_skill_id: subSkillId(sub.number),
    sub_skill_name: sub.name,
    master_skill_id: masterSkillId(sub.master.number),
    master_skill_name: sub.master.name,
  }
}

/**
 * JSON in UTF-8, kept as a string of its bytes. Skills do not change within a snapshot, and writing them costs more than finding
 * them: so it is done once a skill, when it is first asked for, and forgotten with the snapshot. Such strings are joined without
 * looking at them, and become the bytes that are sent in one step, where text beyond Latin-1 would be encoded anew each time.
 */
export interface WrittenJson {
  bytes: string
  /** Whether its bytes are its letters. */
  ascii: boolean
}

export function skillRecordJson(skill: Skill): WrittenJson {
  skill.recordJson ??= written(skillRecord(skill))
  return skill.recordJson
}

/** The record with one property more. */
export function scoredRecordJson(skill: Skill, score: number): WrittenJson {
  const { bytes, ascii } = skillRecordJson(skill)
  return { bytes: `${bytes.slice(0, -1)},"score":${score}}`, ascii }
}

export function publicSkillJson(skill: Skill): WrittenJson {
  skill.publicJson ??= written(publicSkill(skill))
  return skill.publicJson
}

function written(record: object): WrittenJson {
  const bytes = Buffer.from(JSON.stringify(record))
  return { bytes: bytes.toString('latin1'), ascii: isAscii(bytes) }
}

/**
 * A list of such JSON between two pieces of plain ASCII. Where all of it is ASCII it stays a string, which Node sends together with the
 * head in one write; bytes would take another.
 */
export function joinJson(before: string, items: WrittenJson[], after: string): string | Buffer {
  if (items.length === 0) return `${before}[]${after}`
  // What stands around the list is joined with it: the whole is not copied once more.
  const parts = items.map(({ bytes }) => bytes)
  parts[0] = `${before}[${parts[0]}`
  parts[parts.length - 1] += `]${after}`
  const bytes = parts.join(',')
  return items.every(({ ascii }) => ascii) ? bytes : Buffer.from(bytes, 'latin1')
}

/** Sends JSON that is written already. */
export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json)
}
