import type { Method, Property, SdkModel, Type } from './model.ts'
import { pascalCase } from './names.ts'

// A simpler form of the model for languages without union types: Go, Java and PHP. Unions of objects become one object with
// the properties of all of them, inline enums get names, and aliases of scalars are replaced by the scalar.

export interface ObjectModel {
  resources: { name: string; description: string; methods: ObjectMethod[] }[]
  enums: EnumType[]
  objects: ObjectType[]
  /** Event types with the object in their `data`, undefined if it is not an object. */
  events: { type: string; dataName: string | undefined }[]
}

export type FlatType =
  | { kind: 'string' | 'integer' | 'number' | 'boolean' | 'unknown' }
  | { kind: 'enum'; name: string }
  | { kind: 'object'; name: string }
  | { kind: 'array'; items: FlatType }
  | { kind: 'map'; values: FlatType }

export interface Field {
  /** Name as sent. */
  name: string
  type: FlatType
  required: boolean
  nullable: boolean
  description: string
  deprecated: boolean
}

export interface ObjectType {
  name: string
  description: string
  fields: Field[]
  /** Whether the object is part of a request body. */
  isInput: boolean
}

export interface EnumType {
  name: string
  description: string
  values: string[]
}

export interface ObjectMethod
  extends Pick<Method, 'name' | 'summary' | 'description' | 'deprecated' | 'httpMethod' | 'path' | 'hasEnvelope'> {
  auth: Method['auth']
  pathParameters: Field[]
  queryParameters: Field[]
  body: { name: string; required: boolean } | undefined
  /** Name of the object that is returned, undefined if there is none. */
  responseName: string | undefined
  pagination: { style: 'cursor' | 'page' | 'single'; itemName: string } | undefined
  sendsIdempotencyKey: boolean
}

/** Written by hand in each runtime, because the type of `data` depends on `type`. */
const EVENT_NAMES = ['Event', 'EventDelivery']

export function buildObjectModel(model: SdkModel): ObjectModel {
  return new ObjectModelBuilder(model).build()
}

class ObjectModelBuilder {
  readonly #model: SdkModel
  readonly #objects = new Map<string, ObjectType>()
  readonly #enums = new Map<string, EnumType>()
  readonly #eventTypeNames: Set<string>

  constructor(model: SdkModel) {
    this.#model = model
    this.#eventTypeNames = new Set([...EVENT_NAMES, ...model.events.map(({ typeName }) => typeName)])
    for (const { name, description } of model.types) {
      const type = this.#resolve({ kind: 'ref', name })
      if (type.kind === 'enum' && /ErrorCode$|^EventType$|^Mode$/.test(name)) {
        this.#enums.set(name, { name, description, values: type.values })
      }
    }
  }

  build(): ObjectModel {
    const resources = this.#model.resources.map(({ name, description, methods }) => ({
      name,
      description,
      methods: methods.map((method) => this.#method(method)),
    }))
    this.#flatten({ kind: 'ref', name: 'ErrorDetail' }, '')
    const events = this.#model.events.map(({ type, dataType }) => {
      const data = this.#flatten(dataType, `${pascalCase(type)}Data`).type
      return { type, dataName: data.kind === 'object' ? data.name : undefined }
    })
    for (const { body } of resources.flatMap(({ methods }) => methods)) if (body) this.#markInput(body.name)
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    return {
      resources,
      enums: [...this.#enums.values()].sort(byName),
      objects: [...this.#objects.values()].filter(({ name }) => !EVENT_NAMES.includes(name)).sort(byName),
      events,
    }
  }

  #method(method: Method): ObjectMethod {
    const { name, summary, description, deprecated, httpMethod, path, hasEnvelope, auth, pagination } = method
    const field = (parameter: Method['queryParameters'][number]) =>
      this.#field({ ...parameter, deprecated: false }, pascalCase(method.operationId))
    const bodyType = method.body && this.#flatten(method.body.type, '').type
    if (bodyType && bodyType.kind !== 'object') throw new Error(`The body of ${method.operationId} is not an object.`)
    const response = this.#flatten(method.response, `${pascalCase(method.operationId)}Response`).type
    const item = pagination && this.#flatten(pagination.itemType, '').type
    if (item && item.kind !== 'object') throw new Error(`The items of ${method.operationId} are not objects.`)
    return {
      name,
      summary,
      description,
      deprecated,
      httpMethod,
      path,
      hasEnvelope,
      auth,
      pathParameters: method.pathParameters.map(field),
      queryParameters: method.queryParameters.map(field),
      body: bodyType && { name: bodyType.name, required: method.body!.required },
      responseName: response.kind === 'object' ? response.name : undefined,
      pagination: item && { style: pagination.style, itemName: item.name },
      sendsIdempotencyKey: method.idempotencyKey !== 'none',
    }
  }

  #field({ name, type, required, description, deprecated }: Property, owner: string): Field {
    const { type: flatType, nullable } = this.#flatten(type, owner + pascalCase(name))
    return { name, type: flatType, required, nullable, description, deprecated }
  }

  #flatten(type: Type, suggestedName: string): { type: FlatType; nullable: boolean } {
    switch (type.kind) {
      case 'nullable':
        return { type: this.#flatten(type.type, suggestedName).type, nullable: true }
      case 'array':
        return { type: { kind: 'array', items: this.#flatten(type.items, suggestedName).type }, nullable: false }
      case 'map':
        return { type: { kind: 'map', values: this.#flatten(type.values, suggestedName).type }, nullable: false }
      case 'literal':
        return { type: { kind: typeof type.value as 'string' | 'number' | 'boolean' }, nullable: false }
      case 'enum':
        return { type: { kind: 'enum', name: this.#inlineEnum(type.values, suggestedName) }, nullable: false }
      case 'union':
        return this.#union(type.alternatives, suggestedName, '')
      case 'ref':
        return this.#reference(type.name)
      case 'null':
        return { type: { kind: 'unknown' }, nullable: true }
      default:
        return { type: { kind: type.kind }, nullable: false }
    }
  }

  #reference(name: string): { type: FlatType; nullable: boolean } {
    if (this.#eventTypeNames.has(name)) return { type: { kind: 'object', name: 'Event' }, nullable: false }
    const named = this.#find(name)
    if (named.kind === 'object') {
      this.#declare(name, named.description, () => named.properties.map((property) => this.#field(property, name)))
      return { type: { kind: 'object', name }, nullable: false }
    }
    if (named.type.kind === 'enum') {
      this.#enums.set(name, { name, description: named.description, values: named.type.values })
      return { type: { kind: 'enum', name }, nullable: false }
    }
    if (named.type.kind === 'union') return this.#union(named.type.alternatives, name, named.description)
    return this.#flatten(named.type, name)
  }

  /** Returns one object with the properties of all alternatives; a property is required if it is in all of them. */
  #union(alternatives: Type[], name: string, description: string): { type: FlatType; nullable: boolean } {
    const resolved = alternatives.map((alternative) => this.#resolve(alternative))
    const names = resolved.map((alternative) => (alternative.kind === 'ref' ? alternative.name : undefined))
    if (names.every((each) => each !== undefined && this.#eventTypeNames.has(each))) {
      return { type: { kind: 'object', name: 'Event' }, nullable: false }
    }
    if (names.includes(undefined)) return { type: { kind: 'unknown' }, nullable: false }
    this.#declare(name, description, () => {
      const fields = new Map<string, Field>()
      const counts = new Map<string, number>()
      for (const each of names) {
        const object = this.#find(each!)
        for (const property of object.kind === 'object' ? object.properties : []) {
          const field = this.#field(property, name)
          const earlier = fields.get(field.name)
          counts.set(field.name, (counts.get(field.name) ?? 0) + 1)
          const hasConflict = earlier && JSON.stringify(earlier.type) !== JSON.stringify(field.type)
          fields.set(field.name, {
            ...field,
            type: hasConflict ? { kind: 'unknown' } : field.type,
            required: field.required && earlier?.required !== false,
            nullable: field.nullable || earlier?.nullable === true,
          })
        }
      }
      return [...fields.values()].map((field) => ({
        ...field,
        required: field.required && counts.get(field.name) === names.length,
      }))
    })
    return { type: { kind: 'object', name }, nullable: false }
  }

  #declare(name: string, description: string, fields: () => Field[]): void {
    if (this.#objects.has(name)) return
    const object: ObjectType = { name, description, fields: [], isInput: false }
    this.#objects.set(name, object) // before its fields are built, because a type may refer to itself
    object.fields = fields()
  }

  /** Returns the name of an enum with these values, which is declared if there is none. */
  #inlineEnum(values: string[], suggestedName: string): string {
    const same = this.#model.types.find(
      (each) => each.kind === 'alias' && each.type.kind === 'enum' && each.type.values.join() === values.join(),
    )
    const name = same?.name ?? suggestedName
    const existing = this.#enums.get(name)
    if (existing && existing.values.join() !== values.join()) throw new Error(`Two enums have the name ${name}.`)
    if (!existing) this.#enums.set(name, { name, description: same?.description ?? '', values })
    return name
  }

  #markInput(name: string): void {
    const object = this.#objects.get(name)
    if (!object || object.isInput) return
    object.isInput = true
    for (const { type } of object.fields) {
      let inner = type
      while (inner.kind === 'array' || inner.kind === 'map') inner = inner.kind === 'array' ? inner.items : inner.values
      if (inner.kind === 'object') this.#markInput(inner.name)
    }
  }

  #find(name: string) {
    const found = this.#model.types.find((type) => type.name === name)
    if (!found) throw new Error(`The model has no type ${name}.`)
    return found
  }

  #resolve(type: Type): Type {
    if (type.kind !== 'ref') return type
    const named = this.#find(type.name)
    return named.kind === 'alias' ? this.#resolve(named.type) : type
  }
}

/** Returns the name of the method that iterates over all pages: `all` for `list`, `allCandidates` for `listCandidates`. */
export function nameOfAll(name: string): string {
  return name.startsWith('list') ? name.replace('list', 'all') : `${name}All`
}

/** Splits a text into lines of at most `width` characters, for comments. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(/\s+/)) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines
}
