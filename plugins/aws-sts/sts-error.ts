import { parseObject } from '../../src/lib/parse-object.ts'
import { memberOf, textOfElement } from './sts-document.ts'

/** The code of an error of STS, in JSON or XML. It is shown to callers, so that it holds letters only. */
export function errorCodeOf(text: string): string {
  const json = parseObject(text)
  const code = json ? memberOf(memberOf(json, 'Error'), 'Code') : textOfElement(text, 'Code')
  return typeof code === 'string' ? code.replace(/[^\w.]/g, '').slice(0, 60) || 'unnamed' : 'unnamed'
}
