# Gives the image a user of the number $1, with a home it can write to, unless it has one.
set -e
grep -q "^[^:]*:[^:]*:$1:" /etc/group || echo "app:x:$1:" >>/etc/group
grep -q "^[^:]*:[^:]*:$1:" /etc/passwd || echo "app:x:$1:$1::/home/app:/bin/sh" >>/etc/passwd
mkdir -p /home/app
chown "$1:$1" /home/app
