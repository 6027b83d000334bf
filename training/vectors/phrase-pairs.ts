import { readFileSync } from 'node:fs'
import { builtInSkills, parseCsv } from '../../bench/support/skill-catalogues.ts'
import { tokenize, wordHash } from '../../server/catalogue/index/text/tokens.ts'

/** Texts of one skill, as lists of words. */
export interface SkillTexts {
  name: string[]
  aliases: string[][]
  description: string[]
}

/** Two texts of one skill, which must get similar vectors. */
export interface PhrasePair {
  skill: number
  left: string[]
  right: string[]
}

/** One alias of this many is held out by `isHeldOutAlias`. */
const HELD_OUT_ALIAS_SHARE = 40
const MAX_DESCRIPTION_WORDS = 30

/** Whether an alias is not used for training, so that it can test the vectors. Depends on its letters only. */
function isHeldOutAlias(alias: string): boolean {
  return (wordHash(alias) >>> 7) % HELD_OUT_ALIAS_SHARE === 0
}

/** Reads the texts of ESCO without the aliases that are held out, and the names and aliases of the built-in catalogue. */
export function readSkillTexts(dataFolder: string): SkillTexts[] {
  const rows = parseCsv(readFileSync(`${dataFolder}/esco/skills_en.csv`, 'utf8').replace(/^\uFEFF/, ''))
  return [
    ...rows.map(({ preferredLabel, altLabels, description }) => ({
      name: preferredLabel!,
      aliases: altLabels!.split('\n').filter((alias) => alias && !isHeldOutAlias(alias)),
      description: description!,
    })),
    ...builtInSkills().map(({ name, aliases }) => ({ name, aliases, description: '' })),
  ].map(({ name, aliases, description }) => ({
    name: tokenize(name),
    aliases: aliases.map((alias) => tokenize(alias)).filter((words) => words.length > 0),
    description: tokenize(description).slice(0, MAX_DESCRIPTION_WORDS),
  }))
}

/** Pairs each alias with the name, and with a random other alias, and the description with the name and a random alias. */
export function createPairs(skills: readonly SkillTexts[], random: () => number): PhrasePair[] {
  const pairs: PhrasePair[] = []
  skills.forEach(({ name, aliases, description }, skill) => {
    const pickAlias = () => aliases[Math.floor(random() * aliases.length)] ?? name
    for (const alias of aliases) {
      const right = random() < 0.5 ? name : pickAlias()
      if (right.join(' ') !== alias.join(' ')) pairs.push({ skill, left: alias, right })
    }
    if (description.length > 0) {
      pairs.push({ skill, left: description, right: name })
      if (aliases.length > 0) pairs.push({ skill, left: description, right: pickAlias() })
    }
  })
  for (let i = pairs.length - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1))
    ;[pairs[i], pairs[other]] = [pairs[other]!, pairs[i]!]
  }
  return pairs
}
