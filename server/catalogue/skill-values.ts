import { distinctAliases, sameLabel } from './names.ts'
import type { Source } from './taxonomy.ts'

/** The values of a skill in one source. */
export interface SourceValues {
  source: Source
  id: string
  /** Whether the source determines the name, the description and the sub-skill of the skill. */
  owner: boolean
  name: string
  aliases: string[]
  /** Names and aliases that earlier releases of the source gave to the skill. */
  formerLabels: string[]
  verifiable: boolean
}

/** The changes of operators to a skill. They apply on top of the values of its sources, so that imports do not revert them. */
export interface SkillEdits {
  /** Null: the name of the owner. */
  name: string | null
  addedAliases: string[]
  removedAliases: string[]
  /** Null: as in the sources. */
  verifiable: boolean | null
}

export const NO_EDITS: SkillEdits = { name: null, addedAliases: [], removedAliases: [], verifiable: null }

/** Combines the aliases and `verifiable` flags of all sources of a skill with the edits, in an order that does not depend on the order of imports. */
export function combineValues(
  name: string,
  sources: readonly SourceValues[],
  edits: SkillEdits,
): { aliases: string[]; verifiable: boolean } {
  const sortedSources = [...sources].sort(
    (a, b) => Number(b.owner) - Number(a.owner) || compareTexts(a.source, b.source) || compareTexts(a.id, b.id),
  )
  const aliases = [
    ...sortedSources.flatMap((source) => [...source.aliases, source.name]),
    ...sortedSources.flatMap((source) => source.formerLabels),
    ...edits.addedAliases,
  ].filter((alias) => !edits.removedAliases.some((removed) => sameLabel(removed, alias)))
  return {
    aliases: distinctAliases(name, aliases),
    verifiable: edits.verifiable ?? sources.some(({ verifiable }) => verifiable),
  }
}

/** Returns the names and aliases of merged skills, without those that operators removed from the surviving skill. */
export function inheritedAliases(
  merged: readonly { name: string; aliases: readonly string[] }[],
  removedAliases: readonly string[],
): string[] {
  return merged
    .flatMap(({ name, aliases }) => [name, ...aliases])
    .filter((alias) => !removedAliases.some((removed) => sameLabel(removed, alias)))
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
