import { Type } from 'typebox'
import { named } from '../../platform/http/named-schemas.ts'
import { taxonomyFormats } from '../taxonomy.ts'

/** Schemas of the routes with which operators list and undo imports: those of the console, and those of the admin key. */

const text = Type.String()
const dateTime = Type.String({ format: 'date-time' })
const count = (description: string) => Type.Integer({ description })
const orNull = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

export const ImportParams = Type.Object({ import_id: Type.String({ pattern: '^IM_[A-Z0-9]{1,40}$' }) })

export const TaxonomyImport = named(
  'TaxonomyImport',
  Type.Object({
    import_id: text,
    format: Type.Enum([...taxonomyFormats]),
    file_name: Type.String({
      description: 'Name of the file or folder; empty for imports that were not recorded with it.',
    }),
    dry_run: Type.Boolean({ description: 'True if the import only counted the changes.' }),
    status: Type.Enum(['running', 'done', 'failed']),
    started_by: Type.String({ description: 'Email address of the operator, or account of the command line.' }),
    started_at: dateTime,
    ended_at: orNull(dateTime, 'Null while the import is running.'),
    added: orNull(Type.Integer(), 'Number of added skills. Null until the import is done.'),
    changed: orNull(Type.Integer(), 'Number of changed skills. Null until the import is done.'),
    merged: orNull(Type.Integer(), 'Number of rows merged into existing skills. Null until the import is done.'),
    undone_at: orNull(dateTime, 'Time of the undo, or null.'),
    undone_by: orNull(Type.String(), 'Operator that undid the import, or null.'),
    can_undo: Type.Boolean({ description: 'True for the import that can be undone next.' }),
  }),
)

const skillName = { skill_id: text, name: text }

export const ImportUndoEffects = named(
  'ImportUndoEffects',
  Type.Object({
    import_id: text,
    format: Type.Enum([...taxonomyFormats]),
    file_name: text,
    started_by: text,
    started_at: dateTime,
    withdrawn_skills: count(
      'Number of skills that the import added. Searches no longer return them; their IDs stay valid.',
    ),
    kept_skills: count('Number of skills that the import added and that stay, because they have another source since.'),
    withdrawn_groups: count(
      'Number of added sub-skills and master skills. They are listed only while they contain skills.',
    ),
    restored_groups: count('Number of sub-skills and master skills that get back their previous name or place.'),
    restored_skills: count('Number of skills that get back previous values.'),
    restored_names: count('Number of skills whose name changes.'),
    restored_aliases: count('Number of skills whose aliases change.'),
    restored_places: count('Number of skills whose sub-skill changes.'),
    restored_descriptions: count('Number of skills whose description changes.'),
    first_renamed: Type.Array(Type.Object({ ...skillName, restored_name: text }), {
      description: 'The first 20 skills whose name changes.',
    }),
    skills_in_use: count('Number of withdrawn skills that records refer to. They stay usable by their ID.'),
    first_skills_in_use: Type.Array(Type.Object(skillName), { description: 'The first 20 of these skills.' }),
    records: Type.Object(
      {
        mandates: count('Number of mandates that are not archived.'),
        sessions: count('Number of verification sessions.'),
        endorsements: count('Number of reviews in which a skill was endorsed.'),
        credentials: count('Number of credentials.'),
        questions: count('Number of questions of organisations.'),
        selected_skills: count('Number of selections in the public catalogue.'),
      },
      { description: 'Records that refer to withdrawn skills.' },
    ),
  }),
)
