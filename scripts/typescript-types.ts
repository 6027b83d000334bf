/** A JSON Schema as it occurs in OpenAPI 3.1 descriptions and in TypeBox schemas. */
export interface JsonSchema {
  $ref?: string
  description?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  patternProperties?: Record<string, JsonSchema>
}

export type NamedSchemas = Record<string, JsonSchema>

/**
 * Returns TypeScript declarations for named schemas: an interface for each object, a type alias for each other schema. Types that
 * an `imported` module declares are imported from that module.
 */
export function typeDeclarations(schemas: NamedSchemas, imported: Record<string, NamedSchemas> = {}): string {
  const modulesByName = new Map(
    Object.entries(imported).flatMap(([module, moduleSchemas]) =>
      Object.keys(moduleSchemas).map((name) => [name, module]),
    ),
  )
  const ownSchemas = Object.entries(schemas).filter(([name]) => !modulesByName.has(name))
  const referencedNames = new Set(ownSchemas.flatMap(([, schema]) => referencesIn(schema)))
  const imports = Object.keys(imported).flatMap((module) => {
    const names = [...referencedNames].filter((name) => modulesByName.get(name) === module).sort()
    return names.length === 0 ? [] : [`import type { ${names.join(', ')} } from '${module}'`]
  })
  const declarations = ownSchemas.map(([name, schema]) => renderDeclaration(name, schema))
  return `${[...(imports.length > 0 ? [imports.join('\n')] : []), ...declarations].join('\n\n')}\n`
}

function renderDeclaration(name: string, schema: JsonSchema): string {
  const comment = docComment(schema)
  if (isPlainObject(schema)) return `${comment}export interface ${name} ${objectBody(schema)}`
  return `${comment}export type ${name} = ${typeOf(schema)}`
}

/** Returns the TypeScript type of a schema. */
export function typeOf(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
  if (schema.allOf) return schema.allOf.map((part) => parenthesized(typeOf(part))).join(' & ')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives) return union(alternatives.map(typeOf))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return schema.items ? `${parenthesized(typeOf(schema.items))}[]` : 'unknown[]'
    case 'object':
      return objectType(schema)
    default:
      return schema.properties ? objectType(schema) : 'unknown'
  }
}

function objectType(schema: JsonSchema): string {
  const additionalType = typeOfAdditionalProperties(schema)
  if (Object.keys(schema.properties ?? {}).length === 0)
    return `Record<string, ${additionalType ?? (schema.additionalProperties === false ? 'never' : 'unknown')}>`
  return additionalType === undefined ? objectBody(schema) : `${objectBody(schema)} & Record<string, ${additionalType}>`
}

/** Returns the type of properties that are not listed by name, or undefined if the schema allows none. */
function typeOfAdditionalProperties({ additionalProperties, patternProperties }: JsonSchema): string | undefined {
  if (additionalProperties === true) return 'unknown'
  const schemas = [
    ...Object.values(patternProperties ?? {}),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ]
  return schemas.length === 0 ? undefined : union(schemas.map(typeOf))
}

function isPlainObject(schema: JsonSchema): boolean {
  return Object.keys(schema.properties ?? {}).length > 0 && typeOfAdditionalProperties(schema) === undefined
}

function objectBody({ properties = {}, required = [] }: JsonSchema): string {
  const lines = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${docComment(schema)}${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`
  })
  return `{\n${lines.join('\n')}\n}`
}

function union(types: string[]): string {
  return [...new Set(types)].join(' | ')
}

function parenthesized(type: string): string {
  return isCompound(type) ? `(${type})` : type
}

/** Whether a type is a union or an intersection, ignoring those inside brackets. */
function isCompound(type: string): boolean {
  let depth = 0
  for (const character of type.replace(/"(?:[^"\\]|\\.)*"/g, '')) {
    if ('{(<['.includes(character)) depth++
    else if ('})>]'.includes(character)) depth--
    else if (depth === 0 && '|&'.includes(character)) return true
  }
  return false
}

function docComment({ description }: JsonSchema): string {
  return description ? `/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n` : ''
}

function referencesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencesIn)
  if (node === null || typeof node !== 'object') return []
  const { $ref } = node as JsonSchema
  return typeof $ref === 'string' ? [typeOf({ $ref })] : Object.values(node).flatMap(referencesIn)
}
