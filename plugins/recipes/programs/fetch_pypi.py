"""Fetches wheels, and source distributions where there is no wheel, without running anything of either.

pip alone would run the setup.py of a source distribution to learn its dependencies. So pip is shown a wheel
that holds only what the publisher wrote down (PKG-INFO, core metadata specification).
"""
import hashlib, os, re, subprocess, sys, tarfile, zipfile
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit
from pip._vendor import requests
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib

WHEELS, SDISTS, TOOLS, STUBS = "/fetched/wheels", "/fetched/sdists", "/fetched/tools", "/keelson/stubs"

PIP = [sys.executable, "/keelson/guarded_pip.py", "--no-input", "--disable-pip-version-check"]

def pip(*args):
    with subprocess.Popen([*PIP, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        lines = [print(line, end="") or line for line in child.stdout]
    return child.returncode, "".join(lines)

def fetch(*args):
    return pip("download", "--no-cache-dir", "--only-binary=:all:", *args)

def indexes():
    listed = subprocess.run([*PIP, "config", "list"], stdout=subprocess.PIPE, text=True).stdout
    def setting(name):
        found = dict(re.findall(r"^(:env:|global|download)\." + name + r"='(.*)'$", listed, re.M))
        return next((found[level] for level in (":env:", "download", "global") if level in found), "")
    main = setting("index-url") or "__PUBLIC_PYPI__"
    return [main, *re.split(r"(?:\\n|\s)+", setting("extra-index-url"))]

class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "a" and values.get("href"):
            self.found.append(values)

# The newest source distribution that the index has for the requirement (PEP 503).
def find(wanted):
    python = ".".join(map(str, sys.version_info[:3]))
    best = None
    for index in filter(None, indexes()):
        page = index.rstrip("/") + "/" + canonicalize_name(wanted.name) + "/"
        answer = requests.get(page, headers={"accept": "text/html"}, verify=os.environ.get("PIP_CERT") or True, timeout=60)
        if answer.status_code == 404:
            continue
        answer.raise_for_status()
        links = Links()
        links.feed(answer.text)
        for values in links.found:
            url, fragment = urldefrag(urljoin(page, values["href"]))
            try:
                name, version = parse_sdist_filename(os.path.basename(urlsplit(url).path))
            except ValueError:
                continue
            fits = wanted.specifier.contains(version) and SpecifierSet(values.get("data-requires-python") or "").contains(python)
            if name == canonicalize_name(wanted.name) and fits and "data-yanked" not in values and (best is None or version > best[0]):
                best = (version, url, fragment, page)
    return best

def read(archive, names):
    if archive.endswith((".zip", ".whl")):
        with zipfile.ZipFile(archive) as opened:
            return {name: opened.read(name).decode() for name in opened.namelist() if names(name)}
    with tarfile.open(archive) as opened:
        return {one.name: opened.extractfile(one).read().decode() for one in opened if one.isfile() and names(one.name)}

# What setuptools writes beside a PKG-INFO that is silent about dependencies.
def needs(text):
    marker = ""
    for line in filter(None, map(str.strip, text.splitlines())):
        section = re.fullmatch(r"\[([^:\]]*):?(.*)\]", line)
        if section:
            marker = None if section[1] else " ; " + section[2]
        elif marker is not None:
            yield "Requires-Dist: " + line + marker

def take(wanted):
    best = find(wanted)
    if best is None:
        sys.exit(f"There is neither a wheel nor a source distribution of {wanted}.")
    version, url, fragment, page = best
    here, there = urlsplit(page), urlsplit(url)
    if here.username and here.hostname == there.hostname and not there.username:
        url = there._replace(netloc=here.netloc).geturl()
    answer = requests.get(url, verify=os.environ.get("PIP_CERT") or True, timeout=600)
    answer.raise_for_status()
    name, _, digest = fragment.partition("=")
    if name == "sha256" and hashlib.sha256(answer.content).hexdigest() != digest:
        sys.exit(f"The source distribution of {wanted} is not what the index says.")
    path = os.path.join(SDISTS, os.path.basename(urlsplit(url).path))
    with open(path, "wb") as file:
        file.write(answer.content)
    told = read(path, lambda name: re.fullmatch(r"[^/]+/(PKG-INFO|pyproject\.toml|([^/]+/)*[^/]+\.egg-info/requires\.txt)", name))
    one = lambda end: next((text for name, text in told.items() if name.endswith(end)), "")
    head, _, body = one("/PKG-INFO").replace("\r\n", "\n").partition("\n\n")
    if "Requires-Dist:" not in head:
        head = "\n".join([head.strip(), *needs(one("/requires.txt"))])
    info = f"{canonicalize_name(wanted.name).replace('-', '_')}-{version}"
    with zipfile.ZipFile(f"{STUBS}/{info}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}.dist-info/METADATA", head + "\n")
        wheel.writestr(f"{info}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}.dist-info/RECORD", "")
    tools = tomllib.loads(one("/pyproject.toml")).get("build-system", {}).get("requires", ["setuptools"])
    code, _ = fetch("-d", TOOLS, *{*tools, "setuptools", "wheel"})
    if code:
        sys.exit(f"What builds {wanted} is not available as wheels.")

for folder in (WHEELS, SDISTS, TOOLS, STUBS):
    os.makedirs(folder, exist_ok=True)
taken = set()
while True:
    code, words = fetch("-d", WHEELS, "--find-links", STUBS, "-r", "/keelson/requirements.txt")
    if code == 0:
        break
    missing = re.search(r"^ERROR: No matching distribution found for (.*)$", words, re.M)
    wanted = missing and Requirement(missing[1].split(" (from ")[0])
    if not wanted or wanted.url or wanted.name in taken:
        sys.exit(code)
    taken.add(wanted.name)
    take(wanted)
for name in os.listdir(WHEELS):
    told = "".join(read(os.path.join(WHEELS, name), lambda path: path.endswith(".dist-info/METADATA")).values())
    address = re.search(r"^Requires-Dist: *([^;\n]* @ [^;\n]*)", told, re.M)
    if address:
        sys.exit(f"{name} wants {address[1]}, which is not in a package index: refused.")
for stub in os.listdir(STUBS):
    os.remove(os.path.join(WHEELS, stub))
files = [parse_wheel_filename(name)[:2] for name in os.listdir(WHEELS)] + [parse_sdist_filename(name) for name in os.listdir(SDISTS)]
print("__VERSION_LINE__" + next(str(version) for name, version in files if name == canonicalize_name(sys.argv[1])))
