import { masterSkillId, skillId, subSkillId } from './ids.ts'
import { type SerialisedJson, serialiseJson } from './serialised-json.ts'
import type { SnapshotSkill } from './snapshot.ts'

/** Returns the skill as a record of the partner API. */
export function skillRecord({ number, name, description, aliases, sub, verifiable, merged, withdrawn }: SnapshotSkill) {
  return {
    skill_id: skillId(number),
    name,
    description,
    aliases,
    sub_skill: { sub_skill_id: subSkillId(sub.number), name: sub.name },
    master_skill: { master_skill_id: masterSkillId(sub.master.number), name: sub.master.name },
    verifiable,
    ...(merged ? { merged_skill_ids: merged.map((skill) => skillId(skill.number)) } : {}),
    ...(withdrawn ? { withdrawn } : {}),
  }
}

/** Returns the skill as a record of the public API. */
export function publicSkillRecord({ number, name, sub }: SnapshotSkill) {
  return {
    skill_id: skillId(number),
    skill_name: name,
    sub_skill_id: subSkillId(sub.number),
    sub_skill_name: sub.name,
    master_skill_id: masterSkillId(sub.master.number),
    master_skill_name: sub.master.name,
  }
}

/** Returns the skill as the organisation sees it: verifiable, too, if it can be measured with the organisation's own items. */
export function skillForOrganisation(skill: SnapshotSkill, ownSkills: ReadonlySet<number>): SnapshotSkill {
  if (skill.verifiable || !ownSkills.has(skill.number)) return skill
  return { ...skill, verifiable: true, recordJson: undefined }
}

/** Returns the serialised record of the partner API, cached in the skill. */
export function skillRecordJson(skill: SnapshotSkill): SerialisedJson {
  skill.recordJson ??= serialiseJson(skillRecord(skill))
  return skill.recordJson
}

/** Returns the serialised record of the partner API with an additional `score` property. */
export function scoredRecordJson(skill: SnapshotSkill, score: number): SerialisedJson {
  const { bytes, ascii } = skillRecordJson(skill)
  return { bytes: `${bytes.slice(0, -1)},"score":${score}}`, ascii }
}

/** Returns the serialised record of the public API, cached in the skill. */
export function publicSkillJson(skill: SnapshotSkill): SerialisedJson {
  skill.publicJson ??= serialiseJson(publicSkillRecord(skill))
  return skill.publicJson
}
