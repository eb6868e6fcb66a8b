/** The pages that an identity provider shows to a person, by what it asks: who they are, and what the client may do. */
export const interactionPages: Readonly<Record<string, string>> = {
  login: page(
    'Who are you?',
    '<label>Name <input name="name" required></label> <label>Password <input name="password" type="password" required></label> <button>Log in</button>',
  ),
  consent: page('May this program use your account?', '<button>Allow</button>'),
}

function page(title: string, form: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<link rel="icon" href="data:,">
<h1>${title}</h1>
<form method="post">${form}</form>
</html>
`
}
