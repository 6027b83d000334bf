import { type PropertyNote, propertyNotes } from './property-notes.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  examples?: unknown[]
  default?: unknown
  const?: unknown
  enum?: unknown[]
  format?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

type Schemas = Record<string, Schema>

const EXAMPLE_TIME = '2026-03-11T06:30:00.000Z'

/**
 * Adds the descriptions and examples of property-notes.ts to the schemas of a description. A note is found by the path of the property,
 * such as `Campaign.counts.pending`, or else by its name. A description in the schema itself has priority over a note of the name.
 */
export class Annotator {
  readonly #schemas: Schemas
  readonly #schemaExamples: Record<string, unknown>

  constructor(schemas: Schemas, schemaExamples: Record<string, unknown>) {
    this.#schemas = schemas
    this.#schemaExamples = schemaExamples
  }

  /** Annotates all properties of the named schemas. */
  annotateSchemas(): void {
    for (const [name, schema] of Object.entries(this.#schemas)) {
      const description = propertyNotes[name]?.[0]
      if (description && schema.description === undefined) schema.description = description
      if (isScalar(schema) && schema.examples === undefined) {
        const example = this.#findExample(schema, name)
        if (example !== undefined) schema.examples = [example]
      }
      this.#annotateProperties(schema, name)
    }
  }

  /** Annotates a parameter of an operation, whose note has the key `operationId.name`. */
  annotateParameter(operationId: string, parameter: { name: string; description?: string; schema: Schema }): void {
    const path = `${operationId}.${parameter.name}`
    const note = this.#findNote(path)
    parameter.description ??= parameter.schema.description ?? (note?.[0] || undefined)
    delete parameter.schema.description
    if (parameter.schema.$ref === undefined && parameter.schema.examples === undefined) {
      const example = this.#findExample(parameter.schema, path)
      if (example !== undefined) parameter.schema.examples = [example]
    }
  }

  /** Returns an example of a schema, built from the examples of its properties; undefined if one of them has none. */
  exampleOf(schema: Schema): unknown {
    return this.#findExample(schema, '')
  }

  #annotateProperties(schema: Schema, path: string): void {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const propertyPath = `${path}.${name}`
      const note = this.#findNote(propertyPath)
      if (property.description === undefined && note?.[0] && !this.#isDescribed(property, propertyPath))
        property.description = note[0]
      if (property.$ref === undefined && property.examples === undefined && !containsObjects(property, this.#schemas)) {
        const example = this.#findExample(property, propertyPath)
        if (example !== undefined) property.examples = [example]
      }
      this.#annotateProperties(property, propertyPath)
    }
    for (const part of partsOf(schema)) this.#annotateProperties(part, path)
  }

  /** Whether the description of the referenced schema is enough. A note of the path is more specific. */
  #isDescribed({ $ref }: Schema, path: string): boolean {
    return $ref !== undefined && !(path in propertyNotes) && this.#resolve($ref).description !== undefined
  }

  #findNote(path: string): PropertyNote | undefined {
    for (const key of [path, path.slice(path.lastIndexOf('.') + 1)]) {
      if (Object.hasOwn(propertyNotes, key)) return propertyNotes[key]
    }
    return undefined
  }

  #findExample(schema: Schema, path: string): unknown {
    if (Object.hasOwn(this.#schemaExamples, path)) return this.#schemaExamples[path]
    const pathNote = Object.hasOwn(propertyNotes, path) ? propertyNotes[path] : undefined
    if (pathNote && pathNote.length > 1) return pathNote[1]
    if (schema.examples) return schema.examples[0]
    if (schema.$ref !== undefined) return this.#findExample(this.#resolve(schema.$ref), nameOf(schema.$ref))
    if ('const' in schema) return schema.const
    if (schema.allOf) return Object.assign({}, ...schema.allOf.map((part) => this.#findExample(part, path)))
    const alternatives = schema.anyOf ?? schema.oneOf
    if (alternatives) return this.#findExample(alternatives.find(({ type }) => type !== 'null')!, path)
    if (schema.properties && Object.keys(schema.properties).length > 0)
      return this.#objectExample(schema.properties, path)
    if (schema.items && containsObjects(schema.items, this.#schemas)) return [this.#findExample(schema.items, path)]
    const nameNote = this.#findNote(path.slice(path.lastIndexOf('.') + 1))
    if (nameNote && nameNote.length > 1) return nameNote[1]
    if (schema.default !== undefined) return schema.default
    if (schema.enum) return schema.enum[0]
    if (schema.items) {
      const item = this.#findExample(schema.items, path)
      return item === undefined ? undefined : [item]
    }
    if (schema.format === 'date-time') return EXAMPLE_TIME
    return schema.type === 'boolean' ? true : undefined
  }

  #objectExample(properties: Schemas, path: string): unknown {
    const example: Record<string, unknown> = {}
    for (const [name, property] of Object.entries(properties)) {
      const value = this.#findExample(property, `${path}.${name}`)
      if (value !== undefined) example[name] = value
    }
    return example
  }

  #resolve($ref: string): Schema {
    return this.#schemas[nameOf($ref)]!
  }
}

/** Returns the schemas of list items and of alternatives. */
export function partsOf({ items, anyOf, oneOf, allOf }: Schema): Schema[] {
  return [...(items ? [items] : []), ...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])]
}

function nameOf($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

function isScalar(schema: Schema): boolean {
  return !schema.properties && partsOf(schema).length === 0
}

/** Whether the values of a schema are objects, or lists of objects, whose properties have examples themselves. */
function containsObjects(schema: Schema, schemas: Schemas): boolean {
  const { $ref, properties } = schema
  if ($ref !== undefined) return containsObjects(schemas[nameOf($ref)]!, schemas)
  return Object.keys(properties ?? {}).length > 0 || partsOf(schema).some((part) => containsObjects(part, schemas))
}

/** Returns the paths of the properties without a description or an example. */
export function findUndocumented(schemas: Schemas): { undescribed: string[]; withoutExample: string[] } {
  const undescribed: string[] = []
  const withoutExample: string[] = []
  const visit = (schema: Schema, path: string) => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const propertyPath = `${path}.${name}`
      const target = property.$ref === undefined ? property : schemas[nameOf(property.$ref)]!
      if (property.description === undefined && target.description === undefined) undescribed.push(propertyPath)
      if (property.examples === undefined && target.examples === undefined && !containsObjects(property, schemas))
        withoutExample.push(propertyPath)
      visit(property, propertyPath)
    }
    for (const part of partsOf(schema)) visit(part, path)
  }
  for (const [name, schema] of Object.entries(schemas)) visit(schema, name)
  return { undescribed, withoutExample }
}
