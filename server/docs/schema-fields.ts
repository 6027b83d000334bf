import { escapeHtml } from '../platform/text/escape-html.ts'
import type { OpenApiDescription, Schema } from './api-descriptions.ts'

/** Deeper fields are not listed: the description of their object names its type. */
const MAX_DEPTH = 6

export interface SchemaContext {
  description: OpenApiDescription
  /** Renders Markdown without paragraphs. */
  renderInline(markdown: string): string
}

/** Returns what a reference such as `#/components/schemas/Mandate` leads to. */
export function resolve<T extends object>({ components }: OpenApiDescription, value: T | { $ref: string }): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T
  const [, , kind, name] = value.$ref.split('/')
  return components[kind!]![name!] as T
}

/** Returns the HTML of the fields of an object, or of the objects in an array; empty for other types. */
export function renderFields(context: SchemaContext, schema: Schema, depth = 0): string {
  const { description } = context
  const target = resolve(description, schema)
  if (target.items) return renderFields(context, target.items, depth)
  const variants = (target.oneOf ?? target.anyOf ?? []).map((each) => resolve(description, each))
  const objects = variants.filter((each) => hasFields(description, each))
  if (objects.length === 1) return renderFields(context, objects[0]!, depth)
  if (objects.length > 1)
    return objects
      .map((each, index) => foldedFields(context, each, depth, `Variant ${variantName(each, index)}`))
      .join('')
  const { properties, required } = mergeParts(description, target)
  const entries = Object.entries(properties)
  if (entries.length === 0) {
    const values = target.additionalProperties
    return typeof values === 'object' ? renderFields(context, values, depth) : ''
  }
  const items = entries.map(([name, each]) => renderField(context, name, each, required.includes(name), depth))
  return `<ul class="fields">\n${items.join('')}</ul>\n`
}

function renderField(context: SchemaContext, name: string, schema: Schema, isRequired: boolean, depth: number): string {
  const { description, renderInline } = context
  const target = resolve(description, schema)
  const text = schema.description ?? target.description
  const nested = depth < MAX_DEPTH && hasFields(description, target) ? foldedFields(context, target, depth + 1) : ''
  return `<li><code>${escapeHtml(name)}</code> <span class="type">${escapeHtml(typeText(description, schema))}${
    isRequired ? '' : ', optional'
  }</span>${text ? `<div>${renderInline(text)}</div>` : ''}${nested}</li>\n`
}

function foldedFields(context: SchemaContext, schema: Schema, depth: number, title?: string): string {
  const fields = renderFields(context, schema, depth)
  return fields && `<details><summary>${escapeHtml(title ?? 'Fields')}</summary>\n${fields}</details>\n`
}

/** Returns the name of a variant of a union: the constant that identifies it, or its first field. */
function variantName({ properties = {} }: Schema, index: number): string {
  const entries = Object.entries(properties)
  const constant = entries.find(([, each]) => each.const !== undefined)
  if (constant) return `${constant[0]} ${JSON.stringify(constant[1].const)}`
  return entries[0] ? `with ${entries[0][0]}` : String(index + 1)
}

function mergeParts(
  description: OpenApiDescription,
  schema: Schema,
): { properties: Record<string, Schema>; required: string[] } {
  const parts = [schema, ...(schema.allOf ?? []).map((each) => resolve(description, each))]
  return {
    properties: Object.assign({}, ...parts.map(({ properties = {} }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  }
}

/** Returns whether a value of this type has fields to list. */
function hasFields(description: OpenApiDescription, schema: Schema): boolean {
  const target = resolve(description, schema)
  if (target.items) return hasFields(description, target.items)
  const variants = target.oneOf ?? target.anyOf
  if (variants) return variants.some((each) => hasFields(description, each))
  if (Object.keys(mergeParts(description, target).properties).length > 0) return true
  return typeof target.additionalProperties === 'object' && hasFields(description, target.additionalProperties)
}

/** Returns a type with its limits, such as “string, 1 to 200 characters” or “"test" or "live"”. */
export function typeText(description: OpenApiDescription, schema: Schema): string {
  const target = resolve(description, schema)
  const variants = target.oneOf ?? target.anyOf
  if (variants) return [...new Set(variants.map((each) => typeText(description, each)))].join(' or ')
  if (target.const !== undefined) return JSON.stringify(target.const)
  if (target.enum) return target.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (target.items)
    return `array of ${typeText(description, target.items)}${limits(target.minItems, target.maxItems, ' items')}`
  const type = [target.type ?? 'object'].flat().join(' or ')
  return [
    target.format ? `${type} (${target.format})` : type,
    limits(target.minLength, target.maxLength, ' characters') + limits(target.minimum, target.maximum, ''),
    target.default === undefined ? '' : `, default ${JSON.stringify(target.default)}`,
  ].join('')
}

function limits(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined && max === undefined) return ''
  if (max === undefined) return `, at least ${min}${unit}`
  return min === undefined ? `, at most ${max}${unit}` : `, ${min} to ${max}${unit}`
}
