type Json = null | boolean | number | string | Json[] | JsonObject
interface JsonObject {
  [name: string]: Json
}

/** Values that are data, and may contain the names of keywords. */
const DATA_KEYWORDS = ['default', 'enum', 'example', 'examples']

/** Converts an OpenAPI 3.1 description to 3.0.3, without its webhooks, for generators that do not support 3.1. */
export function convertToOpenApi30(description: JsonObject): JsonObject {
  const { webhooks: _webhooks, jsonSchemaDialect: _dialect, ...rest } = description
  const { summary: _summary, ...info } = rest.info as JsonObject
  return { ...(convert(rest) as JsonObject), openapi: '3.0.3', info }
}

function convert(value: Json): Json {
  if (Array.isArray(value)) return value.map(convert)
  if (value === null || typeof value !== 'object') return value
  const converted: JsonObject = {}
  for (const [name, child] of Object.entries(value)) {
    if (name === 'examples' && Array.isArray(child)) converted.example = child[0] ?? null
    else converted[name] = DATA_KEYWORDS.includes(name) ? child : convert(child)
  }
  return isPropertyMap(converted) ? converted : convertKeywords(converted)
}

/** Returns whether the object is a map of names to schemas, in which a name such as `type` is not a keyword. */
function isPropertyMap(value: JsonObject): boolean {
  return Object.values(value).every((child) => child !== null && typeof child === 'object' && !Array.isArray(child))
}

function convertKeywords(schema: JsonObject): JsonObject {
  if ('const' in schema) {
    schema.enum = [schema.const!]
    schema.type ??= typeof schema.const
    delete schema.const
  }
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== 'null')
    if (types.length < schema.type.length) schema.nullable = true
    if (types.length === 1) schema.type = types[0]!
    else {
      delete schema.type
      schema.anyOf = types.map((type) => ({ type }))
    }
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const alternatives = schema[keyword]
    if (!Array.isArray(alternatives)) continue
    const others = alternatives.filter((alternative) => (alternative as JsonObject).type !== 'null')
    if (others.length === alternatives.length) continue
    schema.nullable = true
    delete schema[keyword]
    schema[others.length === 1 ? 'allOf' : keyword] = others
  }
  for (const [exclusive, inclusive] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'number') continue
    schema[inclusive] = schema[exclusive]
    schema[exclusive] = true
  }
  // The generator declares enums of booleans that cannot be compared with booleans.
  if (schema.type === 'boolean') delete schema.enum
  // For a schema that includes a union with a discriminator, openapi-generator declares an interface that extends the union, which
  // TypeScript does not allow.
  delete schema.discriminator
  delete schema.patternProperties
  delete schema.propertyNames
  return schema
}
