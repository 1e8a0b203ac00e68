//! Puts text on the clipboard; also where the page may not use the clipboard's own door.

/** Tells whether it is there now. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copiedBySelection(text)
  }
}

/** The older way, which needs no permission: select and copy. */
function copiedBySelection(text: string): boolean {
  const listener = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  }
  document.addEventListener('copy', listener)
  try {
    return document.execCommand('copy')
  } catch {
    return false
  } finally {
    document.removeEventListener('copy', listener)
  }
}
