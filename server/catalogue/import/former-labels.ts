import { distinctAliases, MAX_ALIASES, nameKey, sameLabel } from '../names.ts'
import type { SourceValues } from '../skill-values.ts'
import type { Source, TaxonomySkill } from '../taxonomy.ts'

/**
 * Returns the former labels of a row that a later release changes: people and job texts go on using names and aliases that the release drops.
 * The built-in catalogue has none: its corrections remove wrong aliases, and every server must have the same ones.
 */
export function formerLabelsAfter(before: SourceValues, after: TaxonomySkill): string[] {
  if (before.source === 'builtin') return []
  return distinctAliases(after.name, [before.name, ...before.aliases, ...before.formerLabels])
    .filter((label) => !after.aliases.some((alias) => sameLabel(alias, label)))
    .slice(0, MAX_ALIASES)
}

/** Removes former labels that another skill of the source now has as its name or alias. Returns the changed rows. */
export function removeMovedLabels<Row extends SourceValues & { skill: object }>(
  source: Source,
  allRows: Iterable<Row>,
): Row[] {
  const rows = [...allRows].filter((row) => row.source === source)
  const skillsByLabel = new Map<string, Set<object>>()
  for (const { formerLabels } of rows) for (const label of formerLabels) skillsByLabel.set(nameKey(label), new Set())
  for (const { name, aliases, skill } of rows)
    for (const label of [name, ...aliases]) skillsByLabel.get(nameKey(label))?.add(skill)
  return rows.filter((row) => {
    const { formerLabels, skill } = row
    row.formerLabels = formerLabels.filter((label) => {
      const skills = skillsByLabel.get(nameKey(label))!
      return skills.size === 0 || (skills.size === 1 && skills.has(skill))
    })
    return row.formerLabels.length < formerLabels.length
  })
}
