import SCIMMY from 'scimmy'

export function scimError(status: number, scimType: string | null, message: string): Error {
  return new SCIMMY.Types.Error(status, scimType as string, message)
}
